import 'reflect-metadata';
import { banner } from './banner';
import { startStandalone } from './index';
import { operatorLine } from './problem';
import { readSettings, type Settings, SettingsProblem } from './settings';

void main();

/** Runs the service until Ctrl-C or SIGTERM. Exit codes: 0 stopped, 1 could not start, 2 wrong settings. */
async function main(): Promise<void> {
  const settings = settingsOrExit();
  // Work that nobody waits for may fail, as when the database goes away; whoever does wait is told.
  process.on('unhandledRejection', (reason) => console.error(reason));
  const starting = startStandalone(settings);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => stop(signal, starting));
  }
  try {
    const { url, key } = await starting;
    if (!stopping) console.log(banner(url, key));
  } catch (error) {
    console.error(operatorLine(error) ?? error);
    process.exit(1);
  }
}

let stopping = false;

/** The first signal ends everything in order, a second one at once. */
function stop(signal: string, starting: ReturnType<typeof startStandalone>): void {
  if (stopping) process.exit(1);
  stopping = true;
  console.log(`${signal}: stopping; send it again to stop at once.`);
  starting
    .then((standalone) => standalone.stop())
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
