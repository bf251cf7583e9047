import { operatorLine } from './problem';
import { readSettings, type Settings, SettingsProblem } from './settings/settings';
import type { Running } from './start';

/**
 * Time within which a repeated signal counts as the same one (ms): a terminal sends Ctrl-C to npm and to the process,
 * and npm passes it on.
 */
const SAME_SIGNAL_MS = 1000;

/** Time limit for stopping (ms): longer than anything takes that ends. */
const STOP_MS = 90_000;

let stoppingSince: number | undefined;

/**
 * Runs what `start` starts until Ctrl-C or SIGTERM, and prints `banner` once it listens. Exit codes: 0 stopped, 1 could
 * not start, or did not stop within `stopMs` milliseconds, 2 wrong settings.
 */
export async function run<R extends Running>(
  start: (settings: Settings) => Promise<R>,
  banner: (running: R, settings: Settings) => string | Promise<string>,
  stopMs = STOP_MS,
): Promise<void> {
  const settings = settingsOrExit();
  // Work that nobody waits for may fail, as when the database goes away; whoever does wait is told.
  process.on('unhandledRejection', (reason) => console.error(reason));
  const starting = start(settings);
  // A process that another one has started leaves Ctrl-C to that one, and ends with it.
  if (process.connected)
    process.on('SIGINT', () => undefined).once('disconnect', () => stop('No parent', starting, stopMs));
  else process.on('SIGINT', () => stop('SIGINT', starting, stopMs));
  process.on('SIGTERM', () => stop('SIGTERM', starting, stopMs));
  try {
    const running = await starting;
    const text = await banner(running, settings);
    if (stoppingSince === undefined) console.log(text);
  } catch (error) {
    console.error(operatorLine(error) ?? error);
    process.exit(1);
  }
}

/** Handles signals: the first one stops everything in order, a later one ends the process at once, and so does the time limit. */
function stop(signal: string, starting: Promise<Running>, stopMs: number): void {
  if (stoppingSince !== undefined) {
    if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
    return;
  }
  stoppingSince = performance.now();
  console.log(`${signal}: stopping${process.connected ? '.' : '; send it again to stop at once.'}`);
  setTimeout(() => {
    console.error(
      `It did not stop within ${stopMs / 1000} seconds and ends now. What was not stored is done again by the next one.`,
    );
    process.exit(1);
  }, stopMs);
  starting
    .then((running) => running.stop())
    .then(() => process.exit(0))
    .catch((error: unknown) => {
      console.error(operatorLine(error) ?? error);
      process.exit(1);
    });
}

function settingsOrExit(): Settings {
  try {
    return readSettings(process.env);
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    for (const line of error.lines) console.error(line);
    process.exit(2);
  }
}
