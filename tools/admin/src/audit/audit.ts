import { setTimeout as delay } from 'node:timers/promises';
import { LogSeals, LogSigner, OlderLog, Rebuild, type ReadModel, requireSameLog } from '@fairlead/eventing';
import { Command } from 'commander';
import { Bar } from '../bar';
import { openInstallation } from '../installation';
import { interruption } from '../interruption';
import { chosen, readModels } from '../read-models';
import { checkLog } from './log-check';
import { StepLimit } from './step-limit';
import { readHeads, readKeys } from './trust';
import { verdict } from './verdict';

interface Options {
  readonly keys?: string;
  readonly head?: string;
  readonly timeout: string;
  readonly replaceKey?: string;
  readonly replaceSeals?: string;
  readonly json?: boolean;
  readonly log: boolean;
  readonly rows: boolean;
}

/** Between two questions whether the database still answers. */
const PING_MS = 5000;
const CLOSE_MS = 5000;

/** Exit codes: 0 everything is as it was written, 1 anything is not, 2 no audit was made, 3 not everything was checked. */
export function audit(): Command {
  return new Command('audit')
    .usage('-- [options] [names...]')
    .description(
      'Verifies the log against its hashes and seals, and every row of the read models against the log, while the ' +
        'service runs. Exit code 0 when everything is as it was written, 1 when anything is not, 2 when the audit could ' +
        'not be made, 3 when nothing wrong was found and not everything could be checked.',
    )
    .argument('[names...]', 'read models, all without any')
    .option('--keys <file>', 'public keys, saved from GET /v1/audit/keys when the installation was trusted')
    .option('--head <head>', 'position:hash that was kept, or a file with seals that were sent out')
    .option('--timeout <seconds>', 'end with an error when a store does not answer for so long', '60')
    .option('--replace-key <why>', 'audit nothing: make a new signing key after the stream of the old one was deleted')
    .option('--replace-seals <why>', 'audit nothing: begin new seals after the stream of the old ones was deleted')
    .option('--json', 'print one JSON object')
    .option('--no-log', 'leave out the log')
    .option('--no-rows', 'leave out the read models')
    .action((names: string[], options: Options) =>
      run(names, options).catch((error: Error) => {
        console.error(error.message);
        process.exitCode = 2;
        setTimeout(() => process.exit(), CLOSE_MS).unref();
      }),
    );
}

async function run(names: readonly string[], options: Options): Promise<void> {
  if (options.replaceKey !== undefined) return replaceKey(options.replaceKey);
  if (options.replaceSeals !== undefined) return replaceSeals(options.replaceSeals);
  const { json, log, rows } = options;
  const seconds = Number(options.timeout);
  if (!(seconds > 0)) throw new Error('--timeout must be a number of seconds.');
  const limit = new StepLimit(seconds * 1000);
  const trust = {
    keys: options.keys === undefined ? undefined : readKeys(options.keys),
    heads: options.head === undefined ? undefined : readHeads(options.head),
  };
  const signal = interruption();
  const installation = await limit.guard('the installation', openInstallation(process.env, { olderLog: true }));
  const bar = new Bar();
  const say = (line: string) => {
    bar.stop();
    if (!json) console.log(line);
  };
  try {
    const { store, vault, pool, url } = installation;
    const older = await limit.guard('the checkpoints', requireSameLog(store, pool)).catch((error: Error) => {
      if (error instanceof OlderLog) return error.message;
      throw error;
    });
    if (older !== undefined) say(`WRONG ${older}`);
    // Rows cannot be held against events that are not there.
    const models = rows && older === undefined ? chosen(readModels(installation), names) : [];
    const checking = () =>
      checkLog(
        store,
        pool,
        new LogSigner(store, vault),
        { ...trust, sealEveryMs: installation.sealEveryMs },
        (position, until, events) => {
          limit.beat();
          bar.show('the log', position, until, events);
        },
        signal,
      );
    const report = log ? await limit.guard('the log', checking()) : undefined;
    if (report) {
      const { events, streams, seals, unsealed, head, findings, unchecked } = report;
      say(`the log: ${events} events in ${streams} streams, ${seals} seals`);
      say(`  not yet sealed: ${unsealed} events, checked against the hashes of their streams and of the service only`);
      say(`  head, to be kept outside: ${head.position}:${head.hash}`);
      for (const { where, reason } of findings) say(`  WRONG ${where}: ${reason}`);
      for (const reason of unchecked) say(`  NOT CHECKED ${reason}`);
    }
    const tables = [];
    for (const model of models) tables.push(...(await whileAnswering(model.name, compare(model))));
    const wrong =
      (older === undefined ? 0 : 1) +
      (report?.findings.length ?? 0) +
      tables.reduce((sum, { count }) => sum + count, 0);
    const { line, code } = verdict(wrong, report, rows ? (names.length === 0 ? 'all' : 'some') : 'none');
    if (json) console.log(JSON.stringify({ older, log: report, tables, wrong, verdict: line }));
    say(line);
    process.exitCode = code;

    /** A comparison is one statement that may take long; meanwhile the database must answer others. */
    async function whileAnswering<T>(step: string, work: Promise<T>): Promise<T> {
      const pinging = setInterval(() => {
        pool.query('select 1').then(
          () => limit.beat(),
          () => undefined,
        );
      }, PING_MS);
      return limit.guard(step, work).finally(() => clearInterval(pinging));
    }

    async function compare(model: ReadModel) {
      const rebuild = new Rebuild(
        store,
        pool,
        url,
        model,
        ({ projection, position, until, events }) => bar.show(projection, position, until, events),
        signal,
      );
      try {
        await rebuild.fill();
        const { rows, counts, differences } = await rebuild.compare();
        say(`${model.name}: ${rows} rows in ${model.tables.join(', ')}`);
        for (const { projection, stream, version, reason } of rebuild.leftOut())
          say(`  NOT COMPARED ${stream} from version ${version} on, which ${projection} cannot apply: ${reason}`);
        for (const { table, key, kind } of differences) say(`  WRONG ${table} ${key}: ${kind}`);
        return Object.entries(counts).map(([table, count]) => ({
          table,
          count,
          differences: differences.filter((difference) => difference.table === table),
        }));
      } finally {
        bar.stop();
        await rebuild.close();
      }
    }
  } finally {
    bar.stop();
    // A connection that is never answered cannot be closed in order.
    await Promise.race([installation.close(), delay(CLOSE_MS)]);
  }
}

/** Makes a new signing key in the place of a lost one, and says what to do with it. */
async function replaceKey(reason: string): Promise<void> {
  if (reason.trim() === '') throw new Error('Say why the key is replaced: --replace-key "<why>".');
  const installation = await openInstallation(process.env, { olderLog: true });
  try {
    const { store, vault } = installation;
    const key = await new LogSigner(store, vault).replaceLost(reason);
    console.log(`The log is signed with the new key ${key} from now on; the log says so, with the reason.`);
    console.log('Save GET /v1/audit/keys again and put it beside the keys that you have kept: both are needed.');
  } finally {
    await installation.close();
  }
}

/** Begins new seals in the place of lost ones, and says what they hold. */
async function replaceSeals(reason: string): Promise<void> {
  if (reason.trim() === '') throw new Error('Say why the seals are replaced: --replace-seals "<why>".');
  const installation = await openInstallation(process.env, { olderLog: true });
  try {
    const { store, vault, pool } = installation;
    const { count, position } = await new LogSeals(store, pool, new LogSigner(store, vault)).replaceLost(reason);
    console.log(
      `The log is sealed again from now on, ${count} events up to position ${position} at once; the log says`,
    );
    console.log('so, with the reason. What the lost seals held is known from where they were sent or kept only.');
  } finally {
    await installation.close();
  }
}
