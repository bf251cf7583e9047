import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { requireDataset } from '@fairlead/datasets';
import { EXPERIMENTS_VIEWS } from '@fairlead/runs';
import { csv, type Infer, note, object, uuid } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { Pool } from 'pg';
import { sessionsOn } from '../view/comparison-view.queries';
import { readRowRuns } from './row-runs.queries';
import { rowRuns } from './row-runs.schema';

const MOST_EXPERIMENTS = 20;
const rowPath = object({
  dataset_id: note(uuid(), 'Identifier of the dataset.'),
  example_id: note(uuid(), 'Identifier of the example.'),
});
const rowQuery = object({
  experiments: note(
    csv(uuid(), { max: MOST_EXPERIMENTS }),
    'Experiments whose runs are given, on the dataset of the path; separated by commas.',
  ),
});

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/compare/rows')
export class RowRunsController {
  constructor(private readonly pool: Pool) {}

  @Get(':example_id')
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Get a row of a comparison run by run',
    description:
      'Every run of the row in each experiment, repetitions one by one, with the feedback on it: scores, comments, corrections, and who gave them.',
  })
  @Answers({ 200: rowRuns })
  async row(
    @Context() { tenantId }: CommandContext,
    @Path(rowPath) { dataset_id, example_id: example }: Infer<typeof rowPath>,
    @Query(rowQuery) { experiments }: Infer<typeof rowQuery>,
  ) {
    await requireDataset(this.pool, tenantId, dataset_id);
    const sessions = await sessionsOn(this.pool, tenantId, dataset_id, experiments);
    return readRowRuns(this.pool, { tenantId, example, sessions });
  }
}
