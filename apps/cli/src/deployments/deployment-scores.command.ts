import { type Command, Option } from 'commander';
import type { Api } from '../api/api';
import { does } from '../api/context';
import { idOf } from '../api/kinds';
import { whole } from '../api/lists';
import { deploymentId } from '../api/lookups';
import type { Page, Revision } from '../api/records';
import { Usage } from '../failure';
import { examples } from '../output/help';
import { revisionName, type RevisionScores, showRevisionScores } from '../output/revision-scores';
import { TREND_COLUMNS, type TrendPoint, trendRows } from '../output/trend';
import { reaches } from '../table/group';

const REVISIONS = 'GET /v2/deployments/{deployment_id}/revisions';
const SCORES = '/api/v1/revisions/scores';
const TREND = '/api/v1/revisions/trend';
const [USUAL, MOST] = [20, 50];

interface ScoresOptions {
  readonly dataset?: string;
  readonly limit?: number;
}

interface TrendOptions extends ScoresOptions {
  readonly score?: string;
  readonly measure?: string;
}

export function addScores(group: Command): void {
  const scores = withRevisions(group.command('scores'))
    .description('show scores, errors, latency and cost of revisions: of experiments that name them, and of live runs')
    .option('--dataset <dataset>', 'only experiments on this dataset, id or name');
  examples(scores, 'deployments scores support-agent', 'deployments scores support-agent --dataset questions');
  reaches(scores, REVISIONS, `GET ${SCORES}`);
  does<ScoresOptions>(scores, async (context, [name], { dataset, limit }) => {
    const { api, out } = context;
    const revisions = await newestRevisions(api, name!, limit);
    const dataset_id = dataset === undefined ? undefined : await idOf(api, 'dataset', dataset);
    const known = await scoresOf(api, revisions, dataset_id);
    if (out.json) return out.text(JSON.stringify([...known.values()]));
    if (revisions.length === 0) return out.note('No revisions.');
    showRevisionScores(context, revisions, known);
  });
}

export function addRevisionTrend(group: Command): void {
  const trend = withRevisions(group.command('trend'))
    .description('follow a score or a measure through the revisions of a deployment, the newest first')
    .requiredOption('--dataset <dataset>', 'the experiments on this dataset, id or name')
    .option('--score <key>', 'the mean of this score')
    .addOption(
      new Option('--measure <measure>', 'of a run: seconds, tokens, cost, or the share of errors')
        .choices(['latency', 'tokens', 'cost', 'errors'])
        .conflicts('score'),
    );
  examples(trend, 'deployments trend support-agent --dataset questions --score correct');
  reaches(trend, REVISIONS, `GET ${TREND}`);
  does<TrendOptions>(trend, async ({ api, out }, [name], { dataset, limit, score: key, measure }) => {
    if ((key ?? measure) === undefined) throw new Usage('Name a score with --score, or a measure with --measure.');
    const revisions = await newestRevisions(api, name!, limit);
    const query = { revision_ids: idsOf(revisions), dataset_id: await idOf(api, 'dataset', dataset!), key, measure };
    const { text } = await api.page(TREND, query);
    if (out.json) return out.text(text);
    type Followed = TrendPoint & { readonly revision_id: string };
    const { resources, unread } = JSON.parse(text) as { resources: readonly Followed[]; unread: readonly string[] };
    if (resources.length === 0) return out.note('No experiment on this dataset names one of these revisions.');
    const of = new Map(revisions.map((revision) => [revision.id, revision]));
    const points = resources.map((point) => {
      const revision = of.get(point.revision_id) ?? { id: point.revision_id, created_at: '' };
      return { ...point, name: revisionName(revision), start_time: revision.created_at };
    });
    const [, ...columns] = TREND_COLUMNS;
    out.table([{ title: 'REVISION', whole: true }, ...columns], trendRows(points, measure === 'errors', out.cell));
    if (unread.length > 0) out.note(`${unread.length} more have experiments, which are too many at once: use --limit.`);
  });
}

/** Scores of revisions, of their newest experiments and live runs, by revision. */
export async function scoresOf(
  api: Api,
  revisions: readonly Pick<Revision, 'id'>[],
  dataset_id?: string,
): Promise<ReadonlyMap<string, RevisionScores>> {
  if (revisions.length === 0) return new Map();
  const query = { revision_ids: idsOf(revisions), dataset_id };
  const { resources } = await api.get<{ resources: readonly RevisionScores[] }>(SCORES, query);
  return new Map(resources.map((one) => [one.revision_id, one]));
}

function withRevisions(command: Command): Command {
  return command
    .argument('<deployment>', 'id or name')
    .option('--limit <n>', `so many of the newest revisions, at most ${MOST} (default: ${USUAL})`, whole);
}

async function newestRevisions(api: Api, name: string, limit = USUAL): Promise<readonly Revision[]> {
  if (limit > MOST) throw new Usage(`--limit is at most ${MOST}.`);
  const path = `/v2/deployments/${await deploymentId(api, name)}/revisions`;
  return (await api.get<Page<Revision>>(path, { limit, include: 'cause' })).resources;
}

function idsOf(revisions: readonly Pick<Revision, 'id'>[]): string {
  return revisions.map(({ id }) => id).join();
}
