import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { EXPERIMENTS_VIEWS, Id, PublicUrl } from '@fairlead/runs';
import { type Infer, int, note, object, optional, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { compared, keysOf, requestOf } from '../compare/compare.controller';
import { sliceMeasures } from '../slices/slices.controller';
import { comparisonLink, ComparisonReports } from './comparison-reports.service';

const reportQuery = object({
  ...compared,
  measures: sliceMeasures,
  limit: note(optional(int({ ge: 0, le: 100 }), 5), 'Largest number of rows that got worse.'),
});

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/compare/report')
export class ReportController {
  constructor(
    private readonly reports: ComparisonReports,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, strict: true })
  @Describe({
    summary: 'Get a comparison as Markdown',
    description:
      'A report for a pull request: verdicts with intervals, the slices and rows that got worse most, and a link. Texts of experiments and examples are escaped, so that they mention and link nothing.',
  })
  @Answers({ 200: { content: { 'text/markdown': str() } } })
  async report(
    @Context() { tenantId, origin }: CommandContext,
    @Id('dataset_id') id: string,
    @Query(reportQuery) asked: Infer<typeof reportQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const request = requestOf(id, asked, keysOf(asked));
    const link = comparisonLink(`${this.publicUrl.value ?? origin}/o/-`, request);
    void reply.header('content-type', 'text/markdown; charset=utf-8');
    return this.reports.render(tenantId, request, { link, worst: asked.limit, measures: asked.measures });
  }
}
