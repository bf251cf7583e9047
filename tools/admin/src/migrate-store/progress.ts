import { SingleBar } from 'cli-progress';

const FORMAT = '{phase} [{bar}] {percentage}% | {value} of {total} events | {rate}/s';

/** Runs a phase with a progress bar on standard error: a line now and then when that is no terminal. */
export async function shown<T>(
  phase: string,
  total: number,
  work: (done: (events: number) => void) => Promise<T>,
): Promise<T> {
  const bar = new SingleBar({ format: FORMAT, noTTYOutput: true, notTTYSchedule: 2000, stream: process.stderr });
  const start = performance.now();
  let [value, first] = [0, -1];
  bar.start(total, 0, { phase: phase.padEnd(7), rate: 0 });
  try {
    return await work((events) => {
      value += events;
      // What an earlier run has done says nothing about the rate.
      if (first < 0) first = value > events ? 0 : value;
      const seconds = Math.max((performance.now() - start) / 1000, 0.001);
      bar.update(value, { rate: Math.round((value - first) / seconds) });
    });
  } finally {
    bar.stop();
  }
}
