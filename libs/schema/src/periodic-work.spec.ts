import { PeriodicWork } from './periodic-work';

let rounds: { end: () => void; fail: (error: Error) => void }[];
let failures: unknown[];
let work: PeriodicWork;

beforeEach(() => {
  jest.useFakeTimers();
  [rounds, failures] = [[], []];
  work = new PeriodicWork(
    () => new Promise<void>((end, fail) => rounds.push({ end, fail })),
    (error) => failures.push(error),
  );
});
afterEach(() => jest.useRealTimers());

it('begins a round at each interval, and none beside one that runs', async () => {
  work.start(1000);
  expect(rounds).toHaveLength(0);
  await jest.advanceTimersByTimeAsync(3500);
  expect(rounds).toHaveLength(1);
  rounds[0]!.end();
  await jest.advanceTimersByTimeAsync(1000);
  expect(rounds).toHaveLength(2);
});

it('reports a round that fails, and goes on', async () => {
  work.start(1000);
  await jest.advanceTimersByTimeAsync(1000);
  const error = new Error('no database');
  rounds[0]!.fail(error);
  await jest.advanceTimersByTimeAsync(1000);
  expect(failures).toEqual([error]);
  expect(rounds).toHaveLength(2);
});

it('reports an error that work without a promise throws', async () => {
  const thrown = new PeriodicWork(
    () => {
      throw new Error('at once');
    },
    (error) => failures.push(error),
  );
  await thrown.run();
  expect(failures).toEqual([new Error('at once')]);
});

it('runs a round at once when it is asked to, or joins the running one', async () => {
  const both = Promise.all([work.run(), work.run()]);
  expect(rounds).toHaveLength(1);
  rounds[0]!.end();
  await both;
  void work.run();
  expect(rounds).toHaveLength(2);
});

it('begins nothing after it was stopped, and waits for the round that runs', async () => {
  work.start(1000);
  await jest.advanceTimersByTimeAsync(1000);
  let stopped = false;
  const stopping = work.stop().then(() => (stopped = true));
  await jest.advanceTimersByTimeAsync(5000);
  expect([rounds.length, stopped]).toEqual([1, false]);
  rounds[0]!.end();
  await stopping;
  await jest.advanceTimersByTimeAsync(5000);
  expect(rounds).toHaveLength(1);
});
