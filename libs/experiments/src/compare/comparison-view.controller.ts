import { Readable } from 'node:stream';
import { Access, Area, Describe, shape, validateRequest } from '@fairlead/api';
import { bool, type Infer, int, list, literal, NotFound, object, optional, record, str, uuid } from '@fairlead/schema';
import { Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import { RunAttachments } from '../storage/attachment.urls';
import { csvLine } from './compare.export';
import { exampleIdAt } from './compare.scores';
import { Comparisons } from './compare.service';
import { renderView } from './comparison-view.render';
import { findViewExamples, sessionsOn, type ViewFilter } from './comparison-view.queries';
import { hasDataset } from '../datasets/datasets.queries';
import { batches, pieces } from '../storage/pieces';
import { idPath, JSON_TEXT } from '../reading.http';
import { exampleWithRuns, feedbackDelta } from '../runs/runs.answers.schema';

const filters = optional(record(list(str())), {});
const viewBody = object(
  {
    session_ids: list(uuid(), { min: 1 }),
    offset: optional(int({ ge: 0 }), 0),
    limit: optional(int({ ge: 1 })),
    preview: optional(bool(), false),
    comparative_experiment_id: optional(uuid()),
    sort_params: optional(
      object(
        { sort_by: str(), sort_order: optional(literal(['ASC', 'DESC']), 'DESC') },
        'SortParamsForRunsComparisonView',
      ),
    ),
    filters,
    example_ids: optional(list(uuid())),
    include_annotator_detail: optional(bool(), false),
  },
  'QueryExampleSchemaWithRunsRequest',
);
const deltaBody = object(
  {
    baseline_session_id: uuid(),
    comparison_session_ids: list(uuid()),
    feedback_key: str(),
    filters,
    offset: optional(int({ ge: 0 }), 0),
    limit: optional(int({ ge: 1, le: 100 }), 100),
    comparative_experiment_id: optional(uuid()),
  },
  'QueryFeedbackDelta',
);
const viewQuery = object({ format: optional(literal(['csv'])) });
const datasetPath = idPath('dataset_id');
const FEEDBACK = /^feedback\./;

/** Examples of a dataset with their runs in some sessions, side by side. */
@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/runs')
export class ComparisonViewController {
  constructor(
    private readonly pool: Pool,
    private readonly comparisons: Comparisons,
    private readonly attachments: RunAttachments,
  ) {}

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Get examples with their runs side by side',
    path: datasetPath,
    query: viewQuery,
    body: viewBody,
    answers: { 200: { content: { 'application/json': shape.list(exampleWithRuns), 'text/csv': shape.text } } },
  })
  async view(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Readable> {
    const { path, query, body } = validateRequest(request, { path: datasetPath, query: viewQuery, body: viewBody });
    const filter = await this.filterOf(request, path.dataset_id, body.session_ids, body.filters, body.example_ids);
    const keys = await findViewExamples(this.pool, filter, {
      sortKey: body.sort_params?.sort_by.replace(FEEDBACK, ''),
      descending: body.sort_params?.sort_order !== 'ASC',
      offset: body.offset,
      limit: body.limit,
    });
    const render = (group: readonly { readonly id: string }[]) =>
      renderView(
        this.pool,
        request.actor.tenantId,
        filter.datasetId,
        group.map(({ id }) => id),
        {
          sessionIds: filter.sessionIds,
          preview: body.preview,
          comparativeExperiment: body.comparative_experiment_id,
          links: this.attachments.links(request),
        },
      );
    if (query.format !== 'csv') return Readable.from(pieces('[', batches(keys), render, ']'));
    void reply.header('content-type', 'text/csv; charset=utf-8');
    return Readable.from(csvOf(batches(keys), render));
  }

  /** Which examples got better and which worse on a key, the largest changes first. */
  @Post('delta')
  @HttpCode(200)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List the examples that got better and worse on a key',
    description: 'The largest changes first.',
    path: datasetPath,
    body: deltaBody,
    answers: { 200: feedbackDelta },
  })
  async delta(@Req() request: FastifyRequest) {
    const { path, body } = validateRequest(request, { path: datasetPath, body: deltaBody });
    const { datasetId, exampleIds } = await this.filtered(request, path.dataset_id, body);
    const deltas: Record<string, { improved_examples: string[]; regressed_examples: string[] }> = {};
    const page = (ids: string[]) => ids.slice(body.offset, body.offset + body.limit);
    for (const session of new Set(body.comparison_session_ids)) {
      if (session === body.baseline_session_id) continue;
      const { table, keys, order } = await this.comparisons.compare(request.actor.tenantId, {
        datasetId,
        experiments: [session],
        baseline: body.baseline_session_id,
        keys: [body.feedback_key],
        lowerIsBetter: [],
        higherIsBetter: [],
      });
      const [before, after] = table.experiments.map(({ keys }) => keys.get(body.feedback_key)?.means);
      const sign = keys[0]?.direction === 'lower is better' ? -1 : 1;
      const regressed: string[] = [];
      const improved: string[] = [];
      for (const row of order) {
        const change = sign * ((after?.[row] ?? NaN) - (before?.[row] ?? NaN));
        if (Number.isNaN(change) || change === 0) continue;
        const id = exampleIdAt(table, row);
        if (exampleIds && !exampleIds.has(id)) continue;
        if (change < 0) regressed.push(id);
        else improved.push(id);
      }
      deltas[session] = { improved_examples: page(improved.reverse()), regressed_examples: page(regressed) };
    }
    return { feedback_deltas: deltas };
  }

  private async filtered(request: FastifyRequest, datasetId: string, body: Infer<typeof deltaBody>) {
    const sessions = [body.baseline_session_id, ...body.comparison_session_ids];
    const filter = await this.filterOf(request, datasetId, sessions, body.filters);
    if (Object.values(body.filters).every((sources) => sources.length === 0)) return { datasetId };
    const found = await findViewExamples(this.pool, filter, { descending: true, offset: 0 });
    return { datasetId, exampleIds: new Set(found.map(({ id }) => id)) };
  }

  private async filterOf(
    request: FastifyRequest,
    datasetId: string,
    sessionIds: readonly string[],
    bySession: Readonly<Record<string, readonly string[]>>,
    exampleIds?: readonly string[],
  ): Promise<ViewFilter> {
    const { tenantId } = request.actor;
    if (!(await hasDataset(this.pool, tenantId, datasetId))) throw new NotFound(`Dataset ID ${datasetId} not found.`);
    const sessions = await sessionsOn(this.pool, tenantId, datasetId, [...new Set(sessionIds)]);
    const missing = sessionIds.find((id) => !sessions.includes(id));
    if (missing) throw new NotFound(`Session ID ${missing} not found.`);
    const known = Object.entries(bySession).filter(([session]) => sessions.includes(session));
    return { datasetId, sessionIds: sessions, exampleIds, filters: Object.fromEntries(known) };
  }
}

interface Viewed {
  readonly id: string;
  readonly name: string;
  readonly runs: readonly Record<'id' | 'session_id' | 'status' | 'start_time' | 'end_time' | 'error', string | null>[];
}

/** One line per run: what the JSON answer says, texts as JSON. */
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
