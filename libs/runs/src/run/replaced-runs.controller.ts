import type { Readable } from 'node:stream';
import { Answers, Area, asText, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { type Infer, note, object, optional, uuid } from '@fairlead/schema';
import { Controller, Get, Header } from '@nestjs/common';
import { Pool } from 'pg';
import { found, Id, JSON_TEXT, pageOf100, sent } from '../common/reading';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { listReplacedRuns } from './replaced-runs.queries';
import { replacedRuns } from './runs.answers.schema';

const query = object({
  row_id: note(optional(uuid()), 'Only runs of this row, by its `row_id` or the identifier of its example.'),
  ...pageOf100,
});

@Area('Runs')
@Controller('v1/experiments')
export class ReplacedRunsController {
  constructor(private readonly pool: Pool) {}

  @Get(':experiment_id/replaced-runs')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS, strict: true })
  @Describe({
    summary: 'List the replaced runs of an experiment',
    description:
      'A run that failed is replaced when an upload fills its row. It stays here, with the feedback on it, and counts nowhere else. The latest come first.',
  })
  @Answers({ 200: asText(replacedRuns), 404: 'There is no such experiment.' })
  async list(
    @Context() { tenantId }: CommandContext,
    @Id('experiment_id') id: string,
    @Query(query) { row_id: row, limit, offset }: Infer<typeof query>,
  ): Promise<string | Readable> {
    const { rows } = await this.pool.query<{ dataset: string | null }>(
      'select reference_dataset_id as dataset from sessions where id = $1 and tenant_id = $2',
      [id, tenantId],
    );
    const { dataset } = found(rows[0], 'Session ID', id);
    return sent(await listReplacedRuns(this.pool, tenantId, { id, dataset }, { row, limit, offset }));
  }
}
