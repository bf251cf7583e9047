import { Controller, Delete, Get, HttpCode, Module, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Body, CommandContext, Context, paging, Path, Query, Scope, sourceAliases } from '@fairlead/api';
import {
  bool,
  csv,
  datetime,
  dict,
  type Infer,
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
class SampleController {
  @Get('v2/deployments')
  @Scope('read')
  list(@Context() { dialect }: CommandContext, @Query(listQuery) query: Infer<typeof listQuery>) {
    return { ...query, dialect };
  }

  @Get('v2/deployments/:deployment_id')
  @Scope('read')
  find(@Path(deploymentPath) path: Infer<typeof deploymentPath>) {
    return path;
  }

  @Patch('v2/deployments/:deployment_id')
  @Scope('write')
  patch(@Body(patch) body: Infer<typeof patch>, @Path(deploymentPath) path: Infer<typeof deploymentPath>) {
    return { path, body };
  }

  @Delete('v2/deployments/:deployment_id')
  @Scope('write')
  @HttpCode(204)
  remove() {
    return undefined;
  }

  @Post('v2/deployments')
  @Scope('write')
  create(@Body(patch) body: Infer<typeof patch>) {
    return body;
  }

  @Post('api/v1/datasets/upload-experiment')
  @Scope('write')
  @HttpCode(200)
  upload(@Body(upload) { results, ...head }: Infer<typeof upload>) {
    return { ...head, rows: results.length };
  }

  @Post('api/v1/datasets/stream')
  @Scope('write', { stream: true })
  @HttpCode(200)
  async stream(@Req() request: FastifyRequest) {
    let bytes = 0;
    for await (const chunk of request.raw) bytes += (chunk as Buffer).length;
    return { bytes, body: typeof request.body };
  }

  @Delete('api/v1/datasets/:dataset_id')
  @Scope('write')
  @HttpCode(204)
  removeDataset() {
    return undefined;
  }

  @Get('api/v1/info')
  @Scope('public')
  info() {
    return { version: '1' };
  }

  @Get('v2/broken')
  @Scope('admin')
  broken(@Req() request: FastifyRequest): never {
    const { code, message } = request.query as { code?: string; message?: string };
    throw Object.assign(new Error(message ?? 'the password is hunter2'), code === undefined ? {} : { code });
  }
}

@Module({ controllers: [SampleController] })
export class SampleModule {}
