import { Readable } from 'node:stream';
import { Answers, Area, Body, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { bool, type Infer, int, list, literal, note, object, optional, record, str, uuid } from '@fairlead/schema';
import { Controller, Header, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { csvLine } from '@fairlead/datasets';
import { Attachments, batches, EXPERIMENTS_VIEWS, Id, JSON_TEXT, pieces } from '@fairlead/runs';
import { exampleIdAt } from '../compare/score-table';
import { type Comparison, Comparisons } from '../compare/comparisons.service';
import { exampleWithRuns, feedbackDelta } from './compared-runs.answers.schema';
import { renderView } from './comparison-view-rows.queries';
import { findView, findViewExamples, orderOf } from './comparison-view.queries';

const filters = note(
  optional(record(list(str())), {}),
  'By session id: expressions that the runs of the session must fulfil, such as `eq(status, "error")`.',
);
const sortParamsForRunsComparisonView = object('SortParamsForRunsComparisonView', {
  sort_by: note(str(), 'Feedback key whose scores count, with or without `feedback.` in front.'),
  sort_order: note(optional(literal(['ASC', 'DESC']), 'DESC'), '`DESC`: the highest scores first.'),
});
const viewBody = object('QueryExampleSchemaWithRunsRequest', {
  session_ids: note(list(uuid(), { min: 1 }), 'Sessions whose runs are shown, all on the dataset of the path.'),
  offset: note(optional(int({ ge: 0 }), 0), 'Number of examples to skip.'),
  limit: note(optional(int({ ge: 1 })), 'Largest number of examples. Default: all.'),
  preview: note(optional(bool(), false), 'True: texts of more than 1 KB are given as `{"preview": "…"}`.'),
  comparative_experiment_id: note(optional(uuid()), 'Only feedback of this comparative experiment is shown.'),
  sort_params: note(
    optional(sortParamsForRunsComparisonView),
    'How the examples are sorted; absent: the newest first.',
  ),
  filters,
  example_ids: note(optional(list(uuid())), 'Only these examples.'),
  include_annotator_detail: note(
    optional(bool(), false),
    'Accepted because clients send it; there are no annotators, so that nothing changes.',
  ),
});
const deltaBody = object('QueryFeedbackDelta', {
  baseline_session_id: note(uuid(), 'Session that the others are measured against.'),
  comparison_session_ids: note(list(uuid()), 'Sessions that are compared with it.'),
  feedback_key: note(str(), 'Feedback key whose scores count.'),
  filters,
  offset: note(optional(int({ ge: 0 }), 0), 'Number of examples to skip in each list.'),
  limit: note(optional(int({ ge: 1, le: 100 }), 100), 'Largest number of examples in each list.'),
  comparative_experiment_id: note(optional(uuid()), 'Accepted because clients send it; it changes nothing.'),
});
const viewQuery = object({ format: note(optional(literal(['csv'])), '`csv`: one line per run instead of JSON.') });

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/runs')
export class ComparisonViewController {
  constructor(
    private readonly pool: Pool,
    private readonly comparisons: Comparisons,
    private readonly attachments: Attachments,
  ) {}

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get examples with their runs side by side' })
  @Answers({ 200: { content: { 'application/json': list(exampleWithRuns), 'text/csv': str() } } })
  async view(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Query(viewQuery) query: Infer<typeof viewQuery>,
    @Body(viewBody) body: Infer<typeof viewBody>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const { tenantId } = context;
    const view = await findView(this.pool, tenantId, datasetId, body.session_ids, body.filters, body.example_ids);
    const order = orderOf(body.sort_params?.sort_by, body.sort_params?.sort_order);
    const keys = await findViewExamples(this.pool, tenantId, view, { ...body, ...order });
    const shown = { ...body, links: this.attachments.links(context) };
    const render = (group: typeof keys) => renderView(this.pool, tenantId, view, group, shown);
    if (query.format !== 'csv') return Readable.from(pieces('[', batches(keys), render, ']'));
    void reply.header('content-type', 'text/csv; charset=utf-8');
    return Readable.from(csvOf(batches(keys), render));
  }

  @Post('delta')
  @HttpCode(200)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'List the examples that got better and worse on a key',
    description: 'The largest changes first.',
  })
  @Answers({ 200: feedbackDelta })
  async delta(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Body(deltaBody) body: Infer<typeof deltaBody>,
  ) {
    const exampleIds = await this.filtered(context, datasetId, body);
    const { baseline_session_id: baseline, feedback_key: key } = body;
    const deltas: Record<string, ReturnType<typeof deltaOf>> = {};
    for (const session of new Set(body.comparison_session_ids.filter((id) => id !== baseline))) {
      const compared = { datasetId, experiments: [session], baseline, keys: [key] };
      const request = { ...compared, lowerIsBetter: [], higherIsBetter: [] };
      deltas[session] = deltaOf(await this.comparisons.compare(context.tenantId, request), body, exampleIds);
    }
    return { feedback_deltas: deltas };
  }

  private async filtered(context: CommandContext, datasetId: string, body: Infer<typeof deltaBody>) {
    const sessions = [body.baseline_session_id, ...body.comparison_session_ids];
    const filter = await findView(this.pool, context.tenantId, datasetId, sessions, body.filters);
    if (Object.values(body.filters).every((sources) => sources.length === 0)) return undefined;
    const found = await findViewExamples(this.pool, context.tenantId, filter, { descending: true, offset: 0 });
    return new Set(found.map(({ id }) => id));
  }
}

function deltaOf(
  { table, keys, order }: Comparison,
  { feedback_key: key, offset, limit }: Infer<typeof deltaBody>,
  exampleIds: ReadonlySet<string> | undefined,
) {
  const [before, after] = table.experiments.map(({ keys }) => keys.get(key)?.means);
  const sign = keys[0]?.direction === 'lower is better' ? -1 : 1;
  const changeOf = (row: number) => sign * ((after?.[row] ?? NaN) - (before?.[row] ?? NaN));
  const page = (rows: Uint32Array) => {
    const ids = Array.from(rows, (row) => exampleIdAt(table, row)).filter((id) => exampleIds?.has(id) ?? true);
    return ids.slice(offset, offset + limit);
  };
  return {
    improved_examples: page(order.filter((row) => changeOf(row) > 0).reverse()),
    regressed_examples: page(order.filter((row) => changeOf(row) < 0)),
  };
}

interface Viewed {
  readonly id: string;
  readonly name: string;
  readonly runs: readonly Record<'id' | 'session_id' | 'status' | 'start_time' | 'end_time' | 'error', string | null>[];
}

async function* csvOf<T>(
  groups: readonly T[],
  render: (group: T) => Promise<readonly string[]>,
): AsyncGenerator<string> {
  const header = [
    'example_id',
    'name',
    'inputs',
    'reference_outputs',
    'session_id',
    'run_id',
    'status',
    'start_time',
    'end_time',
  ];
  yield csvLine([...header, 'error', 'outputs', 'feedback_stats']);
  for (const group of groups) {
    for (const json of await render(group)) {
      const example = JSON.parse(json) as Viewed & Record<string, unknown>;
      const own = [example.id, example.name, JSON.stringify(example.inputs), JSON.stringify(example.outputs)];
      for (const run of example.runs as readonly (Viewed['runs'][number] & Record<string, unknown>)[]) {
        const values = [run.session_id, run.id, run.status, run.start_time, run.end_time, run.error];
        yield csvLine([...own, ...values, JSON.stringify(run.outputs), JSON.stringify(run.feedback_stats)]);
      }
    }
  }
}
