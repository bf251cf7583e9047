import { Answers, Area, Body, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { revealedSecret } from './deployment.answers.schema';
import { DeploymentCommands } from './deployment.commands';
import { revealRequest, secretPath } from './deployment.schema';
import { SecretStore } from './secret.store';
import { SecretNotFound } from '../model/secrets.errors';

@Area('Deployments')
@Controller('v2/deployments/:deployment_id/secrets/:secret_name')
export class SecretsController {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly secretStore: SecretStore,
  ) {}

  @Post('reveal')
  @Scope('secrets:read', { single: true })
  @Describe({
    summary: 'Reveal one secret of a deployment',
    description:
      'Needs the scope `secrets:read`, also of the key behind a session of the console. The history of the deployment and the audit log tell who read it, and why.',
    takes: ['x-reason'],
  })
  @Answers({ 200: revealedSecret })
  @HttpCode(200)
  async reveal(
    @Context() context: CommandContext,
    @Path(secretPath) { deployment_id: id, secret_name: name }: Infer<typeof secretPath>,
    @Body(revealRequest) { reason }: Infer<typeof revealRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state, version } = await this.commands.find(context.tenantId, id);
    const secret = state.secrets.find((one) => one.name === name);
    if (!secret) throw new SecretNotFound(id, name);
    const values = await this.secretStore.open(state, [secret], version, { ...context.metadata, reason });
    reply.header('cache-control', 'no-store');
    return { name, value: values.get(name)! };
  }
}
