import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { jars } from '..';

const ROOT = resolve(__dirname, '../../../..');
const LAUNCH = ['-r', join(ROOT, 'tools/test/typescript.cjs'), join(ROOT, 'tools/kafka/src/main.ts'), '--data'];
/** Runs a broker as long as the test run lives, whatever becomes of the worker that started it. */
const KEEP = `run=$1 folder=$2; shift 2; "$@" "$folder/data" >"$folder/output" 2>&1 & kafka=$!
  while kill -0 $run 2>/dev/null && kill -0 $kafka 2>/dev/null; do sleep 0.5; done
  kill $kafka 2>/dev/null; wait; echo ended >>"$folder/output"; kill -0 $run 2>/dev/null || rm -rf "$folder"`;

/** `describe` where Kafka's jars have been fetched (`npm run kafka -- --fetch`); elsewhere its tests count as skipped. */
export const describeKafka: typeof describe.skip = jars() === undefined ? describe.skip : describe;

/** Addresses of the one broker that all specs of a test run share; the first to ask starts it. */
export async function sharedKafka(): Promise<string> {
  const run = process.env.FAIRLEAD_TEST_RUN!;
  const folder = join(tmpdir(), `fairlead-kafka-${run}`);
  if (isFirst(folder)) {
    const program = [run, folder, process.execPath, ...LAUNCH];
    spawn('sh', ['-c', KEEP, 'keep', ...program], { cwd: ROOT, detached: true, stdio: 'ignore' }).unref();
  }
  for (;;) {
    const output = existsSync(join(folder, 'output')) ? readFileSync(join(folder, 'output'), 'utf8') : '';
    const addresses = /KAFKA_BROKERS=(\S+)\s/.exec(output)?.[1];
    if (addresses !== undefined) return addresses;
    if (/^ended$/m.test(output)) throw new Error(`Kafka could not be started: ${output}`);
    await delay(100);
  }
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
