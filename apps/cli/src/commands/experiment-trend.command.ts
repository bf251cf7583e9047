import { type Command, Option } from 'commander';
import { does } from '../api/context';
import { idOf } from '../api/kinds';
import { type ListOptions, listed } from '../api/lists';
import { Usage } from '../failure';
import { examples } from '../output/help';
import { TREND_COLUMNS, type TrendPoint, trendRows } from '../output/trend';
import { filters } from '../table/group';

interface TrendOptions extends ListOptions {
  readonly score?: string;
  readonly measure?: string;
}

export function addTrend(group: Command): void {
  const command = group
    .command('trend')
    .description('follow a score or a measure through the experiments of a dataset, the newest first')
    .argument('<dataset>', 'id or name')
    .option('--score <key>', 'the mean of this score')
    .addOption(
      new Option('--measure <measure>', 'of a run: seconds, tokens, cost, or the share of errors')
        .choices(['latency', 'tokens', 'cost', 'errors'])
        .conflicts('score'),
    );
  examples(command, 'experiments trend questions --score correct', 'experiments trend questions --measure cost --all');
  const query = filters(command, 'GET /api/v1/datasets/{dataset_id}/trend', 'experiment', {
    without: ['key', 'measure'],
  });
  does<TrendOptions>(command, async (context, [dataset], options) => {
    const { api, out } = context;
    const { score: key, measure } = options;
    if ((key ?? measure) === undefined) throw new Usage('Name a score with --score, or a measure with --measure.');
    const path = `/api/v1/datasets/${await idOf(api, 'dataset', dataset!)}/trend`;
    const filter = { ...(await query(context, options)), key, measure };
    const read = ({ limit, cursor }: { limit: number; cursor?: string }) =>
      api.page(path, { ...filter, limit, cursor });
    const { items, json } = await listed<TrendPoint>(context, options, read);
    if (out.json) return out.text(json);
    if (items.length === 0) return out.note('No experiments.');
    out.table(TREND_COLUMNS, trendRows(items, measure === 'errors', out.cell));
  });
}
