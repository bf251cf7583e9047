import { Rebuild } from '@fairlead/eventing';
import { Command } from 'commander';
import { Bar } from '../bar';
import { openInstallation } from '../installation';
import { interruption } from '../interruption';
import { chosen, readModels } from '../read-models';
import { exchangeForOlderLog, requireStopped } from './from-older-log';

interface Options {
  readonly list?: boolean;
  readonly fromOlderLog?: boolean;
}

/** Exit codes: 0 the read models were made again, 1 one was not. */
export function replay(): Command {
  return new Command('replay')
    .usage('-- [options] [names...]')
    .description(
      'Makes read models again from the log while the service runs, and puts them in the place of the old ones.',
    )
    .argument('[names...]', 'read models, all without any')
    .option('--list', 'only tell their names')
    .option(
      '--from-older-log',
      'for a log that was restored from an older backup than the database: makes all read models and checkpoints again ' +
        'from the log that is there, while no service runs',
    )
    .action((names: string[], options: Options) =>
      run(names, options).catch((error: Error) => {
        console.error(error.message);
        process.exitCode = 1;
      }),
    );
}

async function run(names: readonly string[], { list, fromOlderLog }: Options): Promise<void> {
  if (fromOlderLog && (list || names.length > 0))
    throw new Error('--from-older-log makes all read models again: name none.');
  const signal = interruption();
  const installation = await openInstallation(process.env, { olderLog: fromOlderLog });
  const bar = new Bar();
  try {
    if (fromOlderLog) return await replaceAll();
    for (const model of chosen(readModels(installation), names)) {
      if (list) console.log(`${model.name}: ${model.tables.join(', ')}`);
      else await rebuilt(model);
    }
  } finally {
    bar.stop();
    await installation.close();
  }

  async function replaceAll(): Promise<void> {
    await requireStopped(installation.pool);
    const report = await exchangeForOlderLog(
      installation,
      ({ projection, position, until, events }) => bar.show(projection, position, until, events),
      signal,
    );
    bar.stop();
    if (!report) return console.log('The log is not older than the database: nothing was changed.');
    for (const { name, leftOut } of report.models) {
      console.log(`${name}: made again`);
      for (const line of leftOut) console.log(`  sets aside ${line}`);
    }
    for (const { name, goesOn } of report.followers) console.log(`${name}: goes on ${goesOn}`);
    for (const { kind, count, names } of report.orphans) {
      console.log(`${count} ${kind} have no event any more:`);
      for (const one of names) console.log(`  ${one}`);
      if (count > names.length) console.log(`  and ${count - names.length} more`);
    }
    console.log(
      'The database agrees with the log. Uploads and attachments without an event are deleted after the next start.',
    );
  }

  async function rebuilt(model: ReturnType<typeof readModels>[number]): Promise<void> {
    const started = Date.now();
    const { store, pool, url } = installation;
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
      await rebuild.swap();
      bar.stop();
      for (const { projection, stream, version, reason } of rebuild.leftOut())
        console.log(`${model.name}: ${projection} sets ${stream} aside from version ${version} on: ${reason}`);
    } finally {
      bar.stop();
      await rebuild.close();
    }
    console.log(`${model.name}: made again in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  }
}
