import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isOwn } from './own-routes';
import { checkedParts } from './parameters';

/** Checks the query of routes that take none as well. */
@Injectable()
export class OwnRoutesGuard implements CanActivate {
  canActivate(execution: ExecutionContext): true {
    if (execution.getType() !== 'http') return true;
    const { routeOptions } = execution.switchToHttp().getRequest<FastifyRequest>();
    if (isOwn(routeOptions.url ?? '')) checkedParts(execution);
    return true;
  }
}
