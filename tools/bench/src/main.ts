import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { deploymentsMigrations } from '@fairlead/deployments';
import { eventingMigrations } from '@fairlead/eventing';
import { openDatabase, startEmbedded } from '@fairlead/postgres';
import type { Pool } from 'pg';
import { BenchServer } from './bench-server';
import { callsFigures } from './calls.figures';
import { compareFigures } from './comparison.figures';
import { consoleFigures } from './console.figures';
import { listFigure, pagesFigure, patchFigures } from './deployments.figures';
import { diskFigures } from './disk.figures';
import { largeUploadFigures, uploadFigures } from './experiments.figures';
import { type Figure, met, shown } from './figure';
import { gatesFigures } from './gates.figures';
import { growFigures } from './grow.figures';
import { liveFigures } from './live.figures';
import { appendFigures, replayFigure } from './log.figures';
import { missing, psql } from './programs';
import { storesFigures } from './stores.figures';
import { toolsFigures } from './tools.figures';
import { writesFigure } from './writes.figures';

const PAGE = join(__dirname, '../../../docs/explained/performance.md');
const [START, END] = ['<!-- figures -->', '<!-- /figures -->'];

type Report = (figures: Figure | Figure[]) => void;

/** Groups of figures that need the whole service, in the order in which they are measured. */
const OF_THE_SERVICE = ['list', 'pages', 'patch', 'upload', 'large', 'compare', 'writes', 'console'];
const GROUPS = [...OF_THE_SERVICE, 'append', 'replay', 'tools', 'disk', 'live', 'calls', 'stores'];
/** Measured only when it is asked for: it takes long, and much of the disk. */
const LARGE = 'grow';
/** Simulations, which need no database; measured only when they are asked for. */
const GATES = 'gates';

/** Measures the groups asked for, those of the whole service first, then those of the log on a database of its own. */
async function measure(folder: string, groups: readonly string[], report: Report): Promise<void> {
  const wanted = (group: string) => groups.length === 0 || groups.includes(group);
  const server = await startEmbedded({ dataDir: join(folder, 'postgres') });
  try {
    if (OF_THE_SERVICE.some(wanted)) {
      const fairlead = await BenchServer.start(server.url, folder);
      try {
        if (wanted('list')) report(await listFigure(fairlead));
        if (wanted('pages')) report(await pagesFigure(fairlead));
        if (wanted('patch')) report(await patchFigures(fairlead, server.url, folder));
        if (wanted('upload')) report(await uploadFigures(fairlead, server.url, folder));
        if (wanted('large')) report(await largeUploadFigures(fairlead));
        if (wanted('compare')) report(await compareFigures(fairlead, server.url));
        if (wanted('writes')) report(await writesFigure(fairlead));
        if (wanted('console')) report(await consoleFigures(fairlead));
      } finally {
        await fairlead.stop();
      }
    }
    const inDatabase = async (name: string, work: (db: Pool, url: string) => Promise<void>) => {
      const url = Object.assign(new URL(server.url), { pathname: name }).href;
      await psql(server.url, `create database ${name}`);
      const pool = await openDatabase({ url, migrations: [...eventingMigrations, ...deploymentsMigrations] });
      try {
        await work(pool, url);
      } finally {
        await pool.end();
      }
    };
    if (['append', 'replay'].some(wanted)) {
      await inDatabase('bench_log', async (db, url) => {
        if (wanted('append')) report(await appendFigures(db, url, folder));
        await db.query('truncate events');
        if (wanted('replay')) report(await replayFigure(db, url));
      });
    }
    if (wanted('tools')) {
      await inDatabase('bench_tools', async (db, url) => report(await toolsFigures(db, url, folder)));
    }
    const emptyDatabase = async (name: string) => {
      await psql(server.url, `create database ${name}`);
      return Object.assign(new URL(server.url), { pathname: name }).href;
    };
    if (wanted('disk')) report(await diskFigures(await emptyDatabase('bench_disk'), join(folder, 'disk')));
    if (wanted('live')) report(await liveFigures(emptyDatabase, folder));
    if (groups.includes(LARGE)) await growFigures(await emptyDatabase('bench_grow'), join(folder, 'grow'), report);
    if (wanted('calls')) {
      const databases = {
        postgres: await emptyDatabase('bench_calls'),
        eventStore: await emptyDatabase('bench_calls_esdb'),
      };
      report(await callsFigures(databases, join(folder, 'calls')));
    }
    if (wanted('stores')) {
      const { EVENTSTORE_TEST_URL: url } = process.env;
      if (url) {
        const databases = {
          postgres: await emptyDatabase('bench_postgres'),
          eventStore: await emptyDatabase('bench_esdb'),
        };
        report(await storesFigures(databases, url, join(folder, 'stores')));
      } else {
        console.log(
          '       The rates with the log in EventStoreDB were not measured: EVENTSTORE_TEST_URL names no server.',
        );
      }
    }
  } finally {
    await server.stop();
  }
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, value, unit, goal, detail } = figure;
    const measured = `${shown(value)} ${unit}`.trim();
    const aim = goal && ('atLeast' in goal ? `≥ ${goal.atLeast} ${unit}` : `≤ ${goal.atMost} ${unit}`);
    return `| ${name} | ${aim ?? ''} | ${met(figure) === false ? `**${measured}**` : measured} | ${detail} |`;
  });
  return ['| figure | goal | measured | behind it |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

async function main(): Promise<void> {
  const groups = process.argv.slice(2);
  const known = [...GROUPS, LARGE, GATES];
  const unknown = groups.filter((group) => !known.includes(group));
  if (unknown.length > 0) {
    console.error(`There is no group ${unknown.join(', ')}. The groups are ${known.join(', ')}.`);
    process.exitCode = 2;
    return;
  }
  const isSimulation = groups.length > 0 && groups.every((group) => group === GATES);
  const absent = isSimulation ? [] : missing('psql', 'pgbench', 'zstd');
  if (absent.length > 0) {
    console.error(
      `The limits are measured with ${absent.join(' and ')}: install PostgreSQL's client programs and zstd first.`,
    );
    process.exitCode = 1;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-bench-'));
  const figures: Figure[] = [];
  const report: Report = (measured) => {
    for (const figure of [measured].flat()) {
      figures.push(figure);
      const { name, value, unit, detail } = figure;
      const kept = { true: 'kept  ', false: 'MISSED', undefined: '      ' }[`${met(figure)}`];
      console.log(`${kept} ${name}: ${shown(value)} ${unit} (${detail})`);
    }
  };
  try {
    if (groups.includes(GATES)) for (const figure of gatesFigures()) report(figure);
    if (!isSimulation) await measure(folder, groups, report);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (groups.length > 0) {
    // Speed differs by machine; a simulation does not.
    if (figures.some((figure) => figure.name.startsWith(GATES) && met(figure) === false)) process.exitCode = 1;
    return;
  }
  const machine = `${cpus().length} × ${cpus()[0]!.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(START) as [string, string];
  const after = rest.split(END)[1]!;
  writeFileSync(PAGE, `${before}${START}\n\n${machine}\n\n${table(figures)}\n\n${END}${after}`);
  console.log(`\n${table(figures)}`);
}

void main();
