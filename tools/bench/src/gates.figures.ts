import { SIMULATED_LIMIT, SIMULATED_SHAPES, simulateGate } from '@fairlead/evaluation';
import type { Figure } from './figure';

/** Rows of the simulated datasets. */
const ROWS = [30, 100, 300, 1000, 3000];
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
 * revisions that lose what the verdict announces as detectable: the share that it refuses.
 */
export function* gatesFigures(): Generator<Figure> {
  for (const shape of SIMULATED_SHAPES) {
    const found = ROWS.map((rows) => {
      const trials = Math.min(MOST_TRIALS, Math.max(LEAST_TRIALS, ROWS_SIMULATED / rows));
      const at = (loss: number, more: { looks?: number; trials?: number } = {}) =>
        simulateGate({ shape, rows, loss, trials, ...more });
      let loss = SIMULATED_LIMIT;
      for (let step = 0; step < STEPS; step++) loss = SIMULATED_LIMIT + at(loss, { trials: 200 }).detectable;
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
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
