import { Access, Area, Describe, shape, validateRequest } from '@fairlead/api';
import { publicAddress } from '@fairlead/edge';
import { datetime, object, optional, uuid } from '@fairlead/schema';
import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { PublicUrl } from '../storage/attachment.urls';
import { experimentsView } from '../sessions/experiments.view';
import { found, idPath } from '../reading.http';
import { appPath } from './run-json';

const runPath = idPath('run_id');
const urlQuery = object({ project_id: uuid(), trace_id: uuid(), start_time: optional(datetime()) });
const answered = shape.object('RunUrl', { url: shape.text });

/** Where a person can look at a run. */
@Area('Runs')
@Controller('v2/runs/:run_id/url')
export class RunUrlController {
  constructor(
    private readonly pool: Pool,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Get the address of a run for people',
    path: runPath,
    query: urlQuery,
    answers: { 200: answered },
  })
  async find(@Req() request: FastifyRequest) {
    const { path, query } = validateRequest(request, { path: runPath, query: urlQuery });
    const { tenantId } = request.actor;
    const { rows } = await this.pool.query<{ id: string; session_id: string }>(
      `select id, session_id from runs
       where id = $1 and tenant_id = $2 and session_id = $3 and coalesce(trace_id, id) = $4`,
      [path.run_id, tenantId, query.project_id, query.trace_id],
    );
    const run = found(rows[0], 'Run ID', path.run_id);
    const base = publicAddress(request, this.publicUrl.value);
    return { url: `${base.replace(/\/$/, '')}${appPath(tenantId, run.session_id, run.id)}?trace_id=${query.trace_id}` };
  }
}
