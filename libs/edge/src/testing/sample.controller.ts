import { Controller, Delete, Get, HttpCode, Module, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Access, body, paging, path, query, sourceAliases, validateRequest } from '@fairlead/api';
import {
  bool,
  csv,
  datetime,
  dict,
  int,
  list,
  literal,
  member,
  num,
  object,
  optional,
  secret,
  str,
  union,
  uuid,
} from '@fairlead/schema';

const listQuery = object({
  ...paging,
  deployment_type: optional(literal(['dev_free', 'dev', 'prod'])),
  remote_reconciled: optional(bool()),
  deployment_ids: optional(csv(uuid(), { max: 100 })),
});
const deploymentPath = object({ deployment_id: uuid() });
const patch = object({
  revision_source: optional(
    literal(['codehost', 'internal_container', 'internal_source'], {
      aliases: { github: sourceAliases.github, internal_docker: sourceAliases.internal_docker },
    }),
  ),
  source_config: optional(object({ labels: optional(dict()) })),
  source_revision_config: optional(
    object({ graph_config_path: member(optional(str()), { alias: 'langgraph_config_path' }) }),
  ),
  secrets: optional(list(object({ name: str(), value: secret(str({ max: 5 })) }))),
});
const feedback = object({ key: str(), score: optional(union(num(), int(), bool())) });
const row = object({ row_id: uuid(), inputs: dict(), evaluation_scores: optional(list(feedback)) });
const upload = object({
  experiment_name: str(),
  experiment_start_time: datetime(),
  experiment_end_time: datetime(),
  dataset_id: optional(uuid()),
  results: list(row),
});

@Controller()
export class SampleController {
  @Get('v2/deployments')
  @Access('read')
  list(@Req() request: FastifyRequest) {
    return { ...query(listQuery, request), dialect: request.dialect };
  }

  @Get('v2/deployments/:deployment_id')
  @Access('read')
  find(@Req() request: FastifyRequest) {
    return path(deploymentPath, request);
  }

  @Patch('v2/deployments/:deployment_id')
  @Access('write')
  patch(@Req() request: FastifyRequest) {
    return validateRequest(request, { path: deploymentPath, body: patch });
  }

  @Delete('v2/deployments/:deployment_id')
  @Access('write')
  @HttpCode(204)
  remove() {
    return undefined;
  }

  @Post('v2/deployments')
  @Access('write')
  create(@Req() request: FastifyRequest) {
    return body(patch, request);
  }

  @Post('api/v1/datasets/upload-experiment')
  @Access('write')
  @HttpCode(200)
  upload(@Req() request: FastifyRequest) {
    const { results, ...head } = body(upload, request);
    return { ...head, rows: results.length };
  }

  @Post('api/v1/datasets/stream')
  @Access('write', { stream: true })
  @HttpCode(200)
  async stream(@Req() request: FastifyRequest) {
    let bytes = 0;
    for await (const chunk of request.raw) bytes += (chunk as Buffer).length;
    return { bytes, body: typeof request.body };
  }

  @Delete('api/v1/datasets/:dataset_id')
  @Access('write')
  @HttpCode(204)
  removeDataset() {
    return undefined;
  }

  @Get('api/v1/info')
  @Access('public')
  info() {
    return { version: '1' };
  }

  @Get('v2/broken')
  @Access('admin')
  broken(@Req() request: FastifyRequest): never {
    const { code, message } = request.query as { code?: string; message?: string };
    throw Object.assign(new Error(message ?? 'the password is hunter2'), code === undefined ? {} : { code });
  }
}

@Module({ controllers: [SampleController] })
export class SampleModule {}
