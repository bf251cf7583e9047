import type { CommandContext } from '@fairlead/api';
import type { Workspaces } from '@fairlead/eventing';
import { HttpProblem } from '@fairlead/schema';
import { PublicReading } from './public-reading.service';
import type { ShareQueries } from './share.queries';

/** More than a limit allows in the time that a test takes. */
const MANY = 5000;
const from = (address: string) => ({ metadata: { address } }) as CommandContext;
const [here, elsewhere] = [from('192.0.2.1'), from('198.51.100.1')];

let good: Set<string>;
let lookedUp: number;
let reading: PublicReading;
beforeEach(() => {
  good = new Set(['a', 'b']);
  lookedUp = 0;
  const datasetOf = (token: string) => {
    lookedUp++;
    return Promise.resolve(good.has(token) ? { tenant: 'workspace', id: token } : undefined);
  };
  const workspaces = { requireWorking: () => Promise.resolve() } as unknown as Workspaces;
  reading = new PublicReading({ datasetOf } as unknown as ShareQueries, workspaces);
});

const status = (context: CommandContext, token: string) =>
  reading.dataset(context, token).then(
    () => 200,
    (error: unknown) => (error instanceof HttpProblem ? error.status : error),
  );

/** Reads until the answer is another one. */
async function until(refusal: number, context: CommandContext, token: string): Promise<void> {
  for (let sent = 0; sent < MANY; sent++) if ((await status(context, token)) === refusal) return;
  throw new Error(`None of ${MANY} requests was answered ${refusal}.`);
}

it('Reads of what a workspace shares are limited, and refused without looking anything up', async () => {
  await until(429, here, 'a');
  const before = lookedUp;
  const answers = await Promise.all(Array.from({ length: MANY }, () => status(elsewhere, 'a')));
  expect(answers.filter((answer) => answer === 429).length).toBe(MANY - (lookedUp - before));
});

it('A token that gives nothing any more counts for the address of its client, not for the workspace', async () => {
  expect([await status(here, 'a'), await status(here, 'b')]).toEqual([200, 200]);
  good.delete('b');
  await until(429, here, 'b');
  expect([await status(here, 'a'), await status(elsewhere, 'a'), await status(elsewhere, 'b')]).toEqual([
    200, 200, 404,
  ]);
});

it('An address that tries many tokens gets none looked up for a while', async () => {
  for (let sent = 0; sent < MANY; sent++) await status(here, `guess ${sent}`);
  expect(lookedUp).toBeLessThan(MANY);
  expect(await status(elsewhere, 'a')).toBe(200);
});
