import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { type Infer, NotFound } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { Pool } from 'pg';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { Id, searchedObject } from '../common/reading';
import { scoreBound } from '../common/score-bound';
import { decodeCursor } from '../run/run-cursor';
import { readRunsOfTrace, readTraces } from './light-runs.queries';
import type { TraceFilter } from './trace-filter';
import { findRunsOfTrace, findTraces, hasProject } from './traces.queries';
import { trace, tracePath, traceQuery, traces, tracesQuery } from './traces.schema';

@Area('Runs')
@Controller('v1/projects/:project_id/traces')
export class TracesController {
  constructor(private readonly pool: Pool) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'List the root runs of a project',
    description:
      'The newest first, with the beginnings of their inputs and outputs. All conditions have to hold. A request looks at a bounded number of runs, so that a page of a condition that few runs fulfil may be short or empty: `next_cursor` leads on, and is null only when nothing is left.',
  })
  @Answers({ 200: traces })
  async list(
    @Context() { tenantId }: CommandContext,
    @Id('project_id') id: string,
    @Query(tracesQuery) asked: Infer<typeof tracesQuery>,
  ) {
    const { limit, cursor, newer_than } = asked;
    const project = { tenantId, id };
    await this.requireProject(project);
    const page = { limit, after: decodeCursor(cursor), newerThan: decodeCursor(newer_than) };
    const { ids, ...places } = await findTraces(this.pool, project, filterOf(asked), page);
    return { traces: await readTraces(this.pool, tenantId, ids), ...places };
  }

  @Get(':trace_id')
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Get the runs of a trace',
    description:
      'Without their bodies, by their start. `GET /api/v1/runs/{run_id}` gives one run with all that it has.',
  })
  @Answers({ 200: trace })
  async one(
    @Context() { tenantId }: CommandContext,
    @Path(tracePath) { project_id, trace_id }: Infer<typeof tracePath>,
    @Query(traceQuery) { limit, cursor }: Infer<typeof traceQuery>,
  ) {
    const project = { tenantId, id: project_id };
    const { ids, next_cursor } = await findRunsOfTrace(this.pool, project, trace_id, limit, decodeCursor(cursor));
    if (ids.length === 0 && cursor === undefined) throw new NotFound(`Trace ID ${trace_id} not found.`);
    return { trace_id, runs: await readRunsOfTrace(this.pool, tenantId, ids), next_cursor };
  }

  private async requireProject(project: { tenantId: string; id: string }): Promise<void> {
    if (!(await hasProject(this.pool, project))) throw new NotFound(`Project ID ${project.id} not found.`);
  }
}

function filterOf({ from, to, metadata, score = [], ...filter }: Infer<typeof tracesQuery>): TraceFilter {
  return {
    ...filter,
    from: from?.iso,
    to: to?.iso,
    metadata: searchedObject('metadata', metadata),
    scores: score.map((text) => scoreBound(text)!),
  };
}
