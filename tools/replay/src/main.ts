import { Rebuild } from '@fairlead/eventing';
import { program } from 'commander';
import { Bar, chosen, interruption, openInstallation, readModels } from '.';

program
  .name('npm run replay --')
  .description(
    'Makes read models again from the log while the service runs, and puts them in the place of the old ones.',
  )
  .argument('[names...]', 'read models, all without any')
  .option('--list', 'only tell their names')
  .action(async (names: string[], { list }: { list?: boolean }) => {
    const signal = interruption();
    const installation = await openInstallation(process.env);
    const bar = new Bar();
    try {
      for (const model of chosen(readModels(installation), names)) {
        if (list) console.log(`${model.name}: ${model.tables.join(', ')}`);
        else await replay(model);
      }
    } finally {
      bar.stop();
      await installation.close();
    }

    async function replay(model: ReturnType<typeof readModels>[number]): Promise<void> {
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
  });

program.parseAsync().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
