import { appendedBytes, MAX_APPEND_BYTES } from '@fairlead/eventing';
import { splitRuns } from './live-runs-split';

const metadata = { tenant: 't', actor: 'k' };
const split = (runs: Parameters<typeof splitRuns>[0], left: unknown[] = [], goesOn = true) =>
  splitRuns(runs, metadata, (at, large) => {
    left.push(...large.map(({ name }) => [at, name]));
    return goesOn;
  });
const text = (bytes: number) => JSON.stringify('x'.repeat(bytes));

describe('Runs that were sent', () => {
  it('are one event while they fit into one', async () => {
    const runs = [
      { id: 'a', name: 'one', inputs: text(1000) },
      { id: 'b', outputs: text(1000) },
    ];
    expect(await split(runs)).toEqual([{ type: 'RunsReceived', data: { runs } }]);
  });

  it('are as many events as they need, in order, each of which can be appended', async () => {
    const runs = Array.from({ length: 50 }, (_, n) => ({ id: `run-${n}`, inputs: text(60_000 + n) }));
    const events = await split(runs);
    expect(events).toHaveLength(4);
    expect(events.flatMap(({ data }) => data.runs)).toEqual(runs);
    for (const event of events) expect(appendedBytes(event, metadata)).toBeLessThanOrEqual(MAX_APPEND_BYTES);
  });

  it('are told member by member when one is too large by itself', async () => {
    const run = { id: 'a', name: 'one', inputs: text(600_000), outputs: text(600_000), error: 'late' };
    const events = await split([run, { id: 'b' }]);
    expect(events.map(({ data }) => data.runs.map((change) => Object.keys(change)))).toEqual([
      [
        ['id', 'name'],
        ['id', 'inputs'],
      ],
      [['id', 'outputs'], ['id', 'error'], ['id']],
    ]);
    expect(Object.assign({}, ...events.flatMap(({ data }) => data.runs).slice(0, 4))).toEqual(run);
  });

  it('are told without a member that is too large for an event, or not at all', async () => {
    const large = { id: 'a', name: 'one', inputs: text(MAX_APPEND_BYTES), outputs: text(10) };
    const left: unknown[] = [];
    const told = (await split([{ id: 'b' }, large], left)).flatMap(({ data }) => data.runs);
    const kept = { id: 'a', name: 'one', outputs: text(10), left_out: ['inputs'] };
    expect(Object.assign({}, ...told.slice(1))).toEqual(kept);
    expect(left).toEqual([[1, 'inputs']]);
    expect((await split([{ id: 'b' }, large], left, false)).flatMap(({ data }) => data.runs)).toEqual([{ id: 'b' }]);
  });

  it('let other requests go on while they are measured', async () => {
    let turns = 0;
    let done = false;
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await split(Array.from({ length: 40 }, (_, n) => ({ id: `run-${n}`, inputs: text(500_000) })));
    done = true;
    expect(turns).toBeGreaterThanOrEqual(19);
  });
});
