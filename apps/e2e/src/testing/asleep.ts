const TICK_MS = 250;
/** Longer than any pause of a process that runs. */
const PAUSE_MS = 2000;

let total = 0;
let last: number | undefined;

/**
 * For how many milliseconds this process was stopped, together with those that it tests, since this was asked first: a
 * machine that is suspended, or a job that is. Nobody's time ran then.
 */
export function asleep(): number {
  if (last === undefined) setInterval(tick, TICK_MS).unref();
  tick();
  return total;
}

function tick(): void {
  const now = Date.now();
  if (last !== undefined && now - last > PAUSE_MS) total += now - last - TICK_MS;
  last = now;
}
