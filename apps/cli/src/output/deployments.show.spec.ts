import type { Context } from '../api/context';
import type { Deployment } from '../api/records';
import { showDeployment, showDeployments } from './deployments.show';

/** A deployment as its line in the list and its own page call its status. */
async function words(more: object): Promise<unknown[]> {
  let [row, facts]: [unknown[], [string, unknown][]] = [[], []];
  const out = {
    cell: (_: string, text: string) => text,
    paint: (_: string, text: string) => text,
    table: (_: unknown, [first]: unknown[][]) => (row = first!),
    facts: (lines: [string, unknown][]) => (facts = lines),
  };
  const config = { source_config: {}, source_revision_config: {}, secrets: [] };
  const deployment = { name: 'n', created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z', ...config };
  const context = { out, api: {} } as unknown as Context;
  showDeployments(context, [{ ...deployment, ...more } as unknown as Deployment]);
  await showDeployment(context, { ...deployment, ...more } as unknown as Deployment);
  return [row[1], Object.fromEntries(facts).status];
}

it.each([
  ['crash looping', { status: 'UNKNOWN', crash_looping: true, status_reason: 'It ends again and again.' }],
  ['UNKNOWN', { status: 'UNKNOWN', status_reason: 'Crash looping, said a program.' }],
  ['not deployed yet', { status: 'AWAITING_DATABASE' }],
  ['READY', { status: 'READY' }],
])('calls a deployment %s by its members', async (word, more) => {
  expect(await words(more)).toEqual([word, word]);
});
