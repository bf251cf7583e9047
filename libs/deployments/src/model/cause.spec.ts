import type { Recorded } from '@fairlead/eventing';
import { causesOf } from './cause';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/** Events at minutes after the beginning, as a stream gives them. */
async function* stream(...events: readonly (readonly [minute: number, type: string, data?: object])[]) {
  yield events.map(([minute, type, data = {}]) => {
    return { type, data, time: new Date(BEGIN + minute * 60_000).toISOString(), metadata: {} } as unknown as Recorded;
  });
}

const created = (at: number, revision_id: string) => [at, 'RevisionCreated', { revision_id }] as const;
const activated = (at: number, revision_id: string) =>
  [at, 'RevisionActivated', { revision_id, previous_revision_id: null }] as const;
const status = (at: number, status: string) => [at, 'DeploymentStatusReported', { status }] as const;

it('tells the longest time that each revision ran without trouble', async () => {
  const events = stream(
    ...[created(0, 'a'), activated(1, 'a'), status(71, 'UNKNOWN'), status(80, 'UNKNOWN'), status(81, 'READY')],
    ...[created(90, 'b'), activated(91, 'b'), [100, 'DeploymentStopRequested'] as const],
    ...[[200, 'DeploymentStartRequested'] as const, created(201, 'c')],
  );
  const causes = await causesOf(events, BEGIN + 230 * 60_000);
  const minutes = [...causes].map(([id, { healthy_seconds: seconds }]) => [id, seconds === null ? null : seconds / 60]);
  expect(minutes).toEqual([
    ['a', 70],
    ['b', 30],
    ['c', null],
  ]);
});
