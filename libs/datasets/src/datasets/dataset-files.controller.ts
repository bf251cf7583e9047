import { Readable } from 'node:stream';
import { Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { type Infer, note, object, optional, str } from '@fairlead/schema';
import { applyDecorators, Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { EXPERIMENTS_VIEWS, found, Id } from '@fairlead/runs';
import { fileLines, type FileFormat } from './file-lines';
import { versionAt } from './dataset-versions.queries';
import { findDataset } from './datasets.queries';
import { readExamples } from '../examples/examples.queries';

const fileQuery = object({
  as_of: note(optional(str(), 'latest'), 'The version: a time, a tag, or `latest`.'),
});
type FileQuery = Infer<typeof fileQuery>;
const ORDER = 'Examples are in the order in which they were made. Streamed.';

const NONE = 'There is no such dataset or version.';
const JSON_LINES = { 200: { content: { 'application/jsonl': str() } }, 404: NONE } as const;

function File(format: FileFormat, summary: string, content: string) {
  return applyDecorators(
    Get(format),
    Scope('read', { views: EXPERIMENTS_VIEWS }),
    Describe({ summary, description: `${content} ${ORDER}`, gives: ['Content-Disposition'] }),
  );
}

@Area('Datasets')
@Controller('api/v1/datasets/:dataset_id')
export class DatasetFilesController {
  constructor(private readonly pool: Pool) {}

  @File(
    'csv',
    'Download a dataset as CSV',
    `Identifier, inputs, expected outputs, name and metadata; inputs, outputs and metadata are JSON.`,
  )
  @Answers({ 200: { content: { 'text/csv': str() } }, 404: NONE })
  csv(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Query(fileQuery) query: FileQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    return this.file('csv', context, datasetId, query.as_of, reply);
  }

  @File('jsonl', 'Download a dataset as JSON Lines', `One example a line.`)
  @Answers(JSON_LINES)
  jsonl(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Query(fileQuery) query: FileQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    return this.file('jsonl', context, datasetId, query.as_of, reply);
  }

  @File(
    'openai',
    "Download a dataset for OpenAI's evaluations",
    `Each line has the messages of an example (\`input\`) and the expected answer (\`ideal\`).`,
  )
  @Answers(JSON_LINES)
  openai(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Query(fileQuery) query: FileQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    return this.file('openai', context, datasetId, query.as_of, reply);
  }

  @File(
    'openai_ft',
    'Download a dataset for fine-tuning at OpenAI',
    `Each line has the messages of an example, the expected answer last (\`messages\`).`,
  )
  @Answers(JSON_LINES)
  openaiFt(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Query(fileQuery) query: FileQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    return this.file('openai_ft', context, datasetId, query.as_of, reply);
  }

  private async file(
    format: FileFormat,
    { tenantId }: CommandContext,
    dataset: string,
    version: string,
    reply: FastifyReply,
  ): Promise<Readable> {
    found(await findDataset(this.pool, tenantId, dataset), 'Dataset ID', dataset);
    const asOf = await versionAt(this.pool, tenantId, version, { dataset });
    const isCsv = format === 'csv';
    void reply.header('content-type', isCsv ? 'text/csv; charset=utf-8' : 'application/jsonl');
    const name = `dataset-${dataset}${isCsv || format === 'jsonl' ? '' : `-${format}`}.${isCsv ? 'csv' : 'jsonl'}`;
    void reply.header('content-disposition', `attachment; filename="${name}"`);
    const lines = fileLines(format, readExamples(this.pool, tenantId, { dataset, asOf }));
    return Readable.from(lines, { objectMode: false, highWaterMark: 1 });
  }
}
