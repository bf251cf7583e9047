import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { publicAddress } from '@fairlead/edge';
import { datetime, type Infer, note, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { Pool } from 'pg';
import { PublicUrl } from '../persist/attachments.service';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { found, Id } from '../common/reading';
import { appPath } from './run-json';
import { placeOfRun } from './run-lookups.queries';

const urlQuery = object({
  project_id: note(uuid(), 'Session of the run.'),
  trace_id: note(uuid(), 'Trace of the run.'),
  start_time: note(optional(datetime()), 'Accepted because clients send it; it changes nothing.'),
});
const answered = object('RunUrl', {
  url: note(str(), 'Address of the run in the web console.'),
});

@Area('Runs')
@Controller('v2/runs/:run_id/url')
export class RunUrlController {
  constructor(
    private readonly pool: Pool,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get the address of a run for people' })
  @Answers({ 200: answered })
  async find(
    @Context() context: CommandContext,
    @Id('run_id') runId: string,
    @Query(urlQuery) query: Infer<typeof urlQuery>,
  ) {
    const { tenantId } = context;
    const place = await placeOfRun(this.pool, tenantId, runId);
    const isThere = place?.session_id === query.project_id && place.trace_id === query.trace_id;
    const run = found(isThere ? place : undefined, 'Run ID', runId);
    const base = publicAddress(context, this.publicUrl.value);
    return { url: `${base.replace(/\/$/, '')}${appPath(tenantId, run.session_id, run.id)}?trace_id=${query.trace_id}` };
  }
}
