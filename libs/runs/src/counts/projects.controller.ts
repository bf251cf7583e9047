import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { BadRequest, type Infer, NotFound } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { Pool } from 'pg';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { Id } from '../common/reading';
import { decodeCursor } from '../run/run-cursor';
import { hasProject } from '../traces/traces.queries';
import { type CountRange, countRange, daysIn, wholeDays } from './count-range';
import { listProjects } from './projects.queries';
import { countsQuery, projectCounts, projects, projectsQuery } from './projects.schema';
import { countsOverTime } from './trace-counts.queries';

/** Days of the longest ranges, and those up to which hours are usual and possible. */
const [MOST_OF_LIST, MOST_OF_COUNTS, USUAL_HOURS, MOST_HOURS] = [92, 366, 8, 16];

@Area('Runs')
@Controller('v1/projects')
export class ProjectsController {
  constructor(private readonly pool: Pool) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'List tracing projects with what ran in a time',
    description:
      'Sessions without a dataset, the one with the newest run first. The time is counted in whole hours; `from` and `to` of the answer say which.',
  })
  @Answers({ 200: projects })
  async list(@Context() { tenantId }: CommandContext, @Query(projectsQuery) asked: Infer<typeof projectsQuery>) {
    const { from, to, q, limit, cursor } = asked;
    const range = countRange(from, to, 7, MOST_OF_LIST);
    const page = await listProjects(this.pool, tenantId, range, { q, limit, after: decodeCursor(cursor) });
    return { ...page, ...shown(range) };
  }

  @Get(':project_id/counts')
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Count the runs of a project over time',
    description:
      'Root runs, errors, usage and latencies by hour or day. The runs of uploaded experiments are not counted.',
  })
  @Answers({ 200: projectCounts })
  async counts(
    @Context() { tenantId }: CommandContext,
    @Id('project_id') id: string,
    @Query(countsQuery) { from, to, interval }: Infer<typeof countsQuery>,
  ) {
    const range = countRange(from, to, 1, MOST_OF_COUNTS);
    const unit = interval ?? (daysIn(range) > USUAL_HOURS ? 'day' : 'hour');
    if (unit === 'hour' && daysIn(range) > MOST_HOURS)
      throw new BadRequest(`Hours are counted for at most ${MOST_HOURS} days; ask for days.`);
    if (!(await hasProject(this.pool, { tenantId, id }))) throw new NotFound(`Project ID ${id} not found.`);
    const counted = unit === 'day' ? wholeDays(range) : range;
    const counts = await countsOverTime(this.pool, tenantId, id, unit, counted);
    return { interval: unit, ...shown(counted), counts };
  }
}

function shown({ from, to }: CountRange) {
  const time = (ms: number) => new Date(ms).toISOString().replace('Z', '000+00:00');
  return { from: time(from), to: time(to) };
}
