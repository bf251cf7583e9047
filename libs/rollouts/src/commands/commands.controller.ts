import { Answers, Area, Body, CommandContext, Context, Describe, Path, Scope, untilClosed } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { logPath } from '../logs/log.schema';
import { commandLine, type CommandRequest, commandRequest } from './command.schema';
import { CommandsService } from './commands.service';

@Area('Deployments')
@Controller('v2/deployments/:deployment_id/commands')
export class CommandsController {
  constructor(private readonly commands: CommandsService) {}

  @Post()
  @Scope('write', { load: 'wait' })
  @Describe({
    summary: 'Run a command beside the program of a deployment',
    description:
      'With the executor `local`: with the files, variables, user and limits of the program, also while that sleeps or does not start. An image runs in a container of its own. Standard input is empty. The answer is a stream of JSON lines; the command ends when the client closes the connection.',
    takes: ['x-reason'],
  })
  @Answers({
    200: { content: { 'application/jsonl': commandLine } },
    409: 'Its executor cannot do that, no revision of it was deployed, or it is being deleted.',
  })
  @HttpCode(200)
  async run(
    @Context() context: CommandContext,
    @Path(logPath) { deployment_id }: Infer<typeof logPath>,
    @Body(commandRequest) body: CommandRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const lines = await this.commands.run(context, deployment_id, body, untilClosed(reply));
    void reply
      .header('content-type', 'application/jsonl; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no');
    return lines;
  }
}
