import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { logPath, logs, programLogQuery } from './log.schema';
import type { ProgramLogQuery } from './program-lines';
import { ProgramLogs } from './program-logs.service';

/** Output of the programs of deployments. A client that follows asks again with its last `next_offset`. */
@Area('Logs')
@Controller('v2/deployments/:deployment_id/app_logs')
export class ProgramLogsController {
  constructor(private readonly logs: ProgramLogs) {}

  @Get()
  @Scope('read', { load: 'wait', strict: true })
  @Describe({
    summary: 'Read what the program of a deployment writes',
    description:
      'The last lines since the server was started, with the executor `local`; there are none with others. With `wait` the answer comes as soon as there is a line.',
  })
  @Answers({ 200: logs })
  find(
    @Context() { tenantId }: CommandContext,
    @Path(logPath) { deployment_id }: Infer<typeof logPath>,
    @Query(programLogQuery) query: ProgramLogQuery,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ) {
    return this.logs.page(tenantId, deployment_id, query, () => raw.destroyed);
  }
}
