import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { describeRoute } from './describe';
import { Idempotency } from './idempotency';
import { checkedParts } from './parameters';

/** Runs a handler once per Idempotency-Key. Requests that do not fit their schemas, and dry runs, claim no key. */
@Injectable()
class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: Idempotency) {}

  async intercept(execution: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = execution.switchToHttp();
    const { query } = checkedParts(execution) as { readonly query?: { readonly dry_run?: unknown } };
    if (query?.dry_run) return next.handle();
    const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    const answer = await this.idempotency.run(request, reply, () => lastValueFrom<unknown>(next.handle()));
    return of(answer);
  }
}

/**
 * Makes a route safe to repeat with the header Idempotency-Key. The answer of its handler is stored for all callers, so
 * it must contain no secrets and use the names of the specification. `outside`: interceptors that turn it into the
 * answer for each caller. The module of the controller provides `Idempotency`.
 */
export function Idempotent(...outside: Type<NestInterceptor>[]): MethodDecorator {
  return applyDecorators(
    describeRoute({ takes: ['Idempotency-Key'] }),
    UseInterceptors(...outside, IdempotencyInterceptor),
  );
}
