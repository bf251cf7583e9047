import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const POM = join(ROOT, 'tools', 'kafka', 'pom.xml');
const CACHE = join(ROOT, '.cache', 'kafka');

/** Kafka cannot run here; the message is one line for whoever asked. */
export class KafkaProblem extends Error {
  override readonly name = 'KafkaProblem';
}

/** The jars of the broker that the pom names, undefined until they have been fetched. */
export function jars(): string | undefined {
  const record = join(CACHE, 'pom.xml');
  const current = existsSync(record) && readFileSync(record, 'utf8') === readFileSync(POM, 'utf8');
  return current ? join(CACHE, 'jars') : undefined;
}

/**
 * The folder with the broker's jars, fetched by Maven when it is not there yet.
 * @throws KafkaProblem without Maven, or when it cannot reach its repository.
 */
export async function fetchJars(): Promise<string> {
  const there = jars();
  if (there !== undefined) return there;
  const fetched = join(CACHE, `fetching-${process.pid}`);
  mkdirSync(fetched, { recursive: true });
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${fetched}`];
  await run('mvn', ['-q', '-B', '-f', POM, ...goal]);
  rmSync(join(CACHE, 'jars'), { recursive: true, force: true });
  renameSync(fetched, join(CACHE, 'jars'));
  writeFileSync(join(CACHE, 'pom.xml'), readFileSync(POM));
  return join(CACHE, 'jars');
}

/** True when a Java that Kafka can run on (17 or newer) is on the path. */
export function hasJava(): Promise<boolean> {
  return new Promise((settle) => {
    execFile('java', ['-version'], (error, _, said) => {
      const version = /version "(\d+)/.exec(said)?.[1];
      settle(!error && Number(version) >= 17);
    });
  });
}

/** Runs a program to its end. @throws KafkaProblem with what it said when it fails. */
export function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolved, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const hear = (data: Buffer) => (said = (said + data.toString()).slice(-2000));
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', (error) => reject(new KafkaProblem(`${program} cannot be run: ${error.message}`)));
    child.once('close', (code) => {
      if (code === 0) resolved();
      else reject(new KafkaProblem(`${program} ended with ${code}: ${said.trim()}`));
    });
  });
}
