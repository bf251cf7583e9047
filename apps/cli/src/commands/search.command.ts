import { examples } from '../output/help';
import type { Command } from 'commander';
import { does } from '../api/context';
import { showRows } from '../output/records.show';
import { reaches } from '../table/group';

const PATH = '/v1/search';

export function addSearch(all: Command): void {
  const command = all
    .command('search')
    .description('find datasets, experiments and deployments by name')
    .argument('<text>', 'part of a name');
  examples(command, 'search support');
  reaches(command, `GET ${PATH}`);
  does(command, async (context, [q]) => {
    const json = await context.api.read(PATH, { q });
    if (context.out.json) return context.out.text(json);
    const { resources } = JSON.parse(json) as { readonly resources: Readonly<Record<string, unknown>>[] };
    if (resources.length === 0) context.out.note('Nothing has such a name.');
    else await showRows(context, ['name', 'kind', 'id'], resources);
  });
}
