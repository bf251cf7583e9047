import { SIMULATED_LIMIT, SIMULATED_SHAPES, simulateGate } from '@fairlead/evaluation';
import type { Figure } from './figure';

/** Rows of the simulated datasets. */
const ROWS = [30, 100, 300, 1000, 3000];
/** Slices of a dataset, of which one loses, and rows of the datasets in which they are simulated. */
const SLICES = 3;
const ROWS_SLICED = [100, 300, 3000];
/** The most looks at one revision; each is at one more experiment. */
const LOOKS = 20;
/** Rows that are simulated of each dataset, over all trials: small ones, which need it most, have the most trials. */
const ROWS_SIMULATED = 300_000;
const LEAST_TRIALS = 400;
const MOST_TRIALS = 2000;
/** Steps in which the loss that is announced as detectable is found, since the spread of rows depends on their loss. */
const STEPS = 4;
const MOST_PROMOTED = 0.05;
const LEAST_DETECTED = 0.8;

/**
 * Simulated revisions that lose as much as the limit: the share that a gate promotes, at one look and at up to 20; and
 * revisions that lose what the verdict announces as detectable: the share that it refuses. The same where only one slice
 * loses, at one look.
 */
export function* gatesFigures(): Generator<Figure> {
  for (const shape of SIMULATED_SHAPES) {
    const found = ROWS.map((rows) => {
      const trials = Math.min(MOST_TRIALS, Math.max(LEAST_TRIALS, ROWS_SIMULATED / rows));
      const at = (loss: number, more: { looks?: number; trials?: number } = {}) =>
        simulateGate({ shape, rows, loss, trials, ...more });
      const loss = announced((guess) => at(guess, { trials: 200 }).detectable);
      const [once, repeated] = [at(SIMULATED_LIMIT), at(SIMULATED_LIMIT, { looks: LOOKS, trials: trials / 2 })];
      return { rows, trials, loss, once: once.promoted, repeated: repeated.promoted, detected: at(loss).refused };
    });
    const told = (of: (one: (typeof found)[number]) => string) =>
      found.map((one) => `${one.rows.toLocaleString('en')} rows ${of(one)}`).join(', ');
    const limited = `${shape}, with a loss of exactly the limit of ${SIMULATED_LIMIT}`;
    yield {
      name: `gates: false promotions at one look, ${limited}`,
      ...{ value: Math.max(...found.map(({ once }) => once)), unit: '', goal: { atMost: MOST_PROMOTED } },
      detail: told(({ once, trials }) => `${percent(once)} of ${trials}`),
    };
    yield {
      name: `gates: the same at up to ${LOOKS} looks, each at one more experiment`,
      ...{ value: Math.max(...found.map(({ repeated }) => repeated)), unit: '', goal: { atMost: MOST_PROMOTED } },
      detail: told(({ repeated, trials }) => `${percent(repeated)} of ${trials / 2}`),
    };
    yield {
      name: `gates: detection of ${shape} at one look, with the loss that is announced as detectable`,
      ...{ value: Math.min(...found.map(({ detected }) => detected)), unit: '', goal: { atLeast: LEAST_DETECTED } },
      detail: told(({ detected, loss }) => `${percent(detected)} of losses of ${loss.toFixed(3)}`),
    };
    yield* slicedFigures(shape);
  }
}

function* slicedFigures(shape: (typeof SIMULATED_SHAPES)[number]): Generator<Figure> {
  const found = ROWS_SLICED.map((rows) => {
    const trials = Math.min(MOST_TRIALS, Math.max(LEAST_TRIALS, ROWS_SIMULATED / rows));
    const at = (loss: number, most = trials) => simulateGate({ shape, rows, loss, slices: SLICES, trials: most });
    const loss = announced((guess) => at(guess, 200).detectable);
    return { rows, loss, promoted: at(SIMULATED_LIMIT).promoted, detected: at(loss).refused };
  });
  const told = (of: (one: (typeof found)[number]) => string) =>
    found.map((one) => `${one.rows.toLocaleString('en')} rows ${of(one)}`).join(', ');
  const sliced = `${shape} in one of ${SLICES} slices`;
  yield {
    name: `gates: false promotions at one look, ${sliced}, with a loss of exactly the limit`,
    ...{ value: Math.max(...found.map(({ promoted }) => promoted)), unit: '', goal: { atMost: MOST_PROMOTED } },
    detail: told(({ promoted }) => percent(promoted)),
  };
  yield {
    name: `gates: detection of ${sliced} at one look, with the loss that is announced as detectable`,
    ...{ value: Math.min(...found.map(({ detected }) => detected)), unit: '', goal: { atLeast: LEAST_DETECTED } },
    detail: told(({ detected, loss }) => `${percent(detected)} of losses of ${loss.toFixed(3)}`),
  };
}

/** The loss that is announced as detectable by verdicts on revisions with this loss. */
function announced(detectable: (loss: number) => number): number {
  let loss = SIMULATED_LIMIT;
  for (let step = 0; step < STEPS; step++) loss = SIMULATED_LIMIT + detectable(loss);
  return loss;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
