import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  Describe,
  Idempotency,
  Scope,
  validateRequest,
} from '@fairlead/api';
import { digestOf, EXPERIMENTS_VIEWS, idPath, JSON_TEXT, readOpaqueBody } from '@fairlead/runs';
import { Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DatasetCopies } from './dataset-copies.service';
import { dataset } from './datasets.answers.schema';
import { datasetCopy } from './datasets-body';

const datasetPath = idPath('dataset_id');

@Area('Datasets')
@Controller('api/v1/datasets/:dataset_id/copy')
export class DatasetCopiesController {
  constructor(
    private readonly copies: DatasetCopies,
    private readonly idempotency: Idempotency,
  ) {}

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Copy a dataset as one that clients change',
    description:
      'Also one that only uploads of experiments change. The examples of one version are copied with inputs, outputs, metadata, splits and attachments, up to 24 MiB and 25,000 examples, all of them or none; they get ids of their own and keep `created_at`. `metadata.copied_from` names the dataset and the version. Experiments, tags and the baseline stay behind.',
    path: datasetPath,
    body: datasetCopy,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({
    200: asText(dataset),
    404: 'There is no such dataset or version.',
    409: 'There is a dataset of this name.',
    413: 'The examples are too large together.',
  })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { path, body } = validateRequest(request, { path: datasetPath, body: datasetCopy });
    const copy = () => this.copies.copy(context, path.dataset_id, body);
    return this.idempotency.run(request, reply, copy, digestOf(request, sent.bytes));
  }
}
