import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { CommandContext, contextOf } from './context';
import { toWire } from './dialects';

/**
 * Turns the result of a handler, which may be a stored answer to an earlier request, into the answer for this caller.
 */
export abstract class ForEachCaller<Kept> implements NestInterceptor<Kept> {
  intercept(execution: ExecutionContext, next: CallHandler<Kept>): Observable<unknown> {
    const reply = execution.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(mergeMap(async (kept) => this.show(kept, contextOf(execution), reply)));
  }

  abstract show(kept: Kept, context: CommandContext, reply: FastifyReply): unknown;
}

/** Answers with the names that the caller reads. */
export class Spelling extends ForEachCaller<unknown> {
  show(kept: unknown, context: CommandContext): unknown {
    return spelled(context, kept);
  }
}

/** Returns an answer with the names that the caller reads. */
export function spelled<T>({ dialect }: Pick<CommandContext, 'dialect'>, answer: T): T {
  return dialect === 'wire' ? toWire(answer) : answer;
}
