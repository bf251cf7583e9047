import * as fc from 'fast-check';
import { KillableService } from '../testing/live-runs/killable-service';
import { LiveReached } from '../testing/live-runs/live-reached';
import { LiveTrial } from '../testing/live-runs/live-trial';
import { trials } from '../testing/live-runs/vary';

/**
 * Runs that are sent while they happen are held against a model: the last value that was sent of each member counts,
 * and refused runs are listed and take no others with them. `LIVE_RUNS` is the number of trials, `LIVE_RUNS_SEED` another
 * seed, and `LIVE_RUNS_PATH` the path that the report of a failure names: with it only that trial is carried out.
 * `LIVE_RUNS_REACHED=1` prints what has been reached.
 */
const { LIVE_RUNS: count, LIVE_RUNS_SEED: seed, LIVE_RUNS_PATH: path } = process.env;
const TRIALS = Number(count ?? 12);

let service: KillableService;
let uploaded: { readonly id: string; readonly name: string };
const carriedOut: LiveTrial[] = [];
const reached = new LiveReached();

beforeAll(async () => {
  service = await KillableService.start();
  const body = {
    ...{ experiment_name: 'uploaded', dataset_name: 'rows', results: [] },
    ...{ experiment_start_time: '2026-01-01T00:00:00Z', experiment_end_time: '2026-01-02T00:00:00Z' },
  };
  const path = '/api/v1/datasets/upload-experiment';
  uploaded = (await service.courier.deliver({ method: 'POST', path, body: JSON.stringify(body) })).json.experiment;
});
afterAll(() => service?.stop());

it(`In ${TRIALS} trials each run that was accepted is read as it was sent, whenever the service is killed`, async () => {
  await fc.assert(
    fc.asyncProperty(trials, async (trial) => {
      const made = await LiveTrial.run(service, trial, reached, uploaded);
      expect({ trial, read: await made.actual() }).toEqual({ trial, read: made.expected() });
      expect(service.courier.faults.splice(0)).toEqual([]);
      carriedOut.push(made);
    }),
    {
      ...{ numRuns: TRIALS, seed: Number(seed ?? 1), path },
      // What fails is made smaller until then.
      ...{ interruptAfterTimeLimit: 240_000 + TRIALS * 10_000, markInterruptAsFailure: true },
    },
  );
  if (process.env.LIVE_RUNS_REACHED) process.stdout.write(`${reached.toString()}\n`);
  expect(reached.missing(path ? 0 : TRIALS)).toEqual([]);
}, 3_600_000);

it('All runs are read as before when the tables are made again from the log', async () => {
  expect(await service.replay()).toEqual([]);
  for (const one of carriedOut) expect(await one.actual()).toEqual(one.expected());
});
