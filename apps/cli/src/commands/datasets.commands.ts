import type { Command } from 'commander';
import { does } from '../api/context';
import { type ListOptions, listed, listOptions } from '../api/lists';
import type { Dataset } from '../api/records';
import { clean, when } from '../output/text';

export function addDatasets(all: Command): void {
  const group = all.command('datasets').alias('dataset').description('what experiments are run on');
  const list = group
    .command('list')
    .alias('ls')
    .description('list datasets, the one used last first')
    .option('--name <text>', 'whose name holds this text');
  does<ListOptions & { name?: string }>(listOptions(list), async (context, _args, options) => {
    const { out } = context;
    const read = (page: object) => context.api.read('/api/v1/datasets', { name_contains: options.name, ...page });
    const { items, json } = await listed<Dataset>(context, options, read);
    if (out.json) return out.text(json);
    if (items.length === 0) return out.note('No datasets.');
    out.table(
      [
        { title: 'NAME', flexible: true },
        { title: 'EXAMPLES', right: true },
        { title: 'EXPERIMENTS', right: true },
        { title: 'LAST EXPERIMENT' },
        { title: 'ID' },
      ],
      items.map((dataset) => [
        out.cell('bold', clean(dataset.name)),
        String(dataset.example_count ?? '-'),
        String(dataset.session_count ?? '-'),
        when(dataset.last_session_start_time),
        dataset.id,
      ]),
    );
  });
}
