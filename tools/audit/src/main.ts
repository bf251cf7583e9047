import { LogSigner, Rebuild, type ReadModel } from '@fairlead/eventing';
import { Bar, chosen, interruption, openInstallation, readModels } from '@fairlead/replay';
import { program } from 'commander';
import { checkLog } from './log-check';

interface Options {
  readonly json?: boolean;
  readonly log: boolean;
  readonly rows: boolean;
}

program
  .name('npm run audit --')
  .description(
    'Verifies the log against its hashes and seals, and every row of the read models against the log, while the ' +
      'service runs. Exit code 1 when anything is not as it was written.',
  )
  .argument('[names...]', 'read models, all without any')
  .option('--json', 'print one JSON object')
  .option('--no-log', 'leave out the log')
  .option('--no-rows', 'leave out the read models')
  .action(async (names: string[], { json, log, rows }: Options) => {
    const signal = interruption();
    const installation = await openInstallation(process.env);
    const bar = new Bar();
    const say = (line: string) => {
      bar.stop();
      if (!json) console.log(line);
    };
    try {
      const { store, vault, pool, url } = installation;
      const models = rows ? chosen(readModels(installation), names) : [];
      const report = log
        ? await checkLog(
            store,
            new LogSigner(store, vault),
            (position, until, events) => bar.show('the log', position, until, events),
            signal,
          )
        : undefined;
      if (report) {
        const { events, streams, seals, unsealed, findings } = report;
        say(`the log: ${events} events in ${streams} streams, ${seals} seals, ${unsealed} events after the last one`);
        for (const { where, reason } of findings) say(`  WRONG ${where}: ${reason}`);
      }
      const tables = [];
      for (const model of models) tables.push(...(await compare(model)));
      const wrong = (report?.findings.length ?? 0) + tables.reduce((sum, { count }) => sum + count, 0);
      if (json) console.log(JSON.stringify({ log: report, tables, wrong }));
      say(wrong === 0 ? 'Everything is as it was written.' : `${wrong} things are not as they were written.`);
      process.exitCode = wrong === 0 ? 0 : 1;

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
      await installation.close();
    }
  });

program.parseAsync().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 2;
});
