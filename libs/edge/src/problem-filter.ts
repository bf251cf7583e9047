import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { answerTo, sendProblem } from '@fairlead/api';
import type { Admission } from './admission/admission';
import { HttpProblem } from '@fairlead/schema';
import { tooExpensive } from './read-requests';

/** Answers every error that a route, a hook or the framework throws, and logs those that are not the client's fault. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly admission: Admission,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (isCutOff(request)) {
      this.logger.info({ requestId: request.id, method: request.method }, 'A client went away');
      reply.raw.destroy();
      return;
    }
    const expensive = tooExpensive(request, error);
    const tooMany = request.guessed === undefined ? undefined : this.admission.refused(request, error);
    const { problem, log } = expensive
      ? { problem: expensive, log: 'warn' as const }
      : tooMany
        ? { problem: tooMany, log: undefined }
        : answerTo(error);
    if (log) this.logger[log]({ err: error, requestId: request.id }, 'A request failed');
    if (reply.sent) return;
    if (reply.raw.headersSent) reply.raw.destroy();
    else sendProblem(request, reply, problem.status === 500 ? new HttpProblem(500, 'Internal Server Error') : problem);
  }
}

/**
 * Returns whether the client left before its body was complete or its read was answered: what failed afterwards failed
 * because of that.
 */
function isCutOff({ raw, requestContext }: FastifyRequest): boolean {
  return (raw.destroyed && !raw.complete) || (requestContext?.reading?.aborted ?? false);
}
