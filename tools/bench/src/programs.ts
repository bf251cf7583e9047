import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the programs among `names` that are not installed. */
export function missing(...names: string[]): string[] {
  return names.filter((name) => spawnSync(name, ['--version']).error);
}

/** Runs a program and answers what it printed. @throws Error with what it said when it fails */
function run(program: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program}: ${stderr || error.message}`));
      else resolve(stdout);
    });
  });
}

/** Statements through psql, which stops at the first error. */
export function psql(url: string, ...statements: string[]): Promise<string> {
  const commands = statements.flatMap((statement) => ['-c', statement]);
  return run('psql', [url, '-qAtX', '-v', 'ON_ERROR_STOP=1', ...commands]);
}

/** Rows per second that pgbench inserts with 32 clients, one similar row per transaction, into a table like the log. */
export async function insertRate(url: string, folder: string, seconds: number): Promise<number> {
  await psql(
    url,
    'drop table if exists bench_events; drop sequence if exists bench_positions',
    'create table bench_events (like events including all); create sequence bench_positions',
  );
  const script = join(folder, 'insert.sql');
  const data = JSON.stringify({ source_config: { build_command: 'make 123456', repo_url: 'https://example.com/a/b' } });
  const metadata = JSON.stringify({ tenant: 'a'.repeat(36), actor: 'b'.repeat(36), requestId: 'c'.repeat(36) });
  writeFileSync(
    script,
    `insert into bench_events select p, 'deployment-' || gen_random_uuid(), 1, gen_random_uuid(), 'DeploymentPatched',
     '${data}', '${metadata}', now() from nextval('bench_positions') p;\n`,
  );
  const printed = await run('pgbench', [
    url,
    '-n',
    '-M',
    'prepared',
    '-c',
    '32',
    '-j',
    '2',
    '-T',
    String(seconds),
    '-f',
    script,
  ]);
  await psql(url, 'drop table bench_events; drop sequence bench_positions');
  return Number(/tps = ([\d.]+)/.exec(printed)![1]);
}
