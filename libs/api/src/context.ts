import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor, Dialect } from './access';
import { ifMatch } from './etag';
import { metadataOf, type RequestMetadata } from './metadata';

/** The context of a command: the parts of its request that it needs. */
export class CommandContext {
  constructor(private readonly request: FastifyRequest) {}

  /** The sender of the request. Public routes have none and must not use it. */
  get actor(): Actor {
    return this.request.actor;
  }

  /** Id of the workspace of the request. */
  get tenantId(): string {
    return this.request.actor.tenantId;
  }

  /** Protocol and host of the request. Do not trust them: a client can send any host. */
  get origin(): string {
    return `${this.request.protocol}://${this.request.host}`;
  }

  /** The address of this machine at which the request arrived. */
  get localAddress(): string | undefined {
    return this.request.socket.localAddress;
  }

  /** The names that the answer uses. */
  get dialect(): Dialect {
    return this.request.dialect;
  }

  /** The metadata of events that the request causes. */
  get metadata(): RequestMetadata {
    return metadataOf(this.request);
  }

  /**
   * Returns the version that the change may start from, from the header `If-Match`; undefined for any version.
   * `current`: the current version, where it is known.
   * @throws PreconditionFailed when no version can match the header.
   */
  expectedVersion(current?: number): number | undefined {
    return ifMatch(this.request, current);
  }
}

/** The parameter decorator for a `CommandContext`. */
export const Context = createParamDecorator((_: unknown, execution: ExecutionContext) => contextOf(execution));

/** Returns the context of the current request. */
export function contextOf(execution: ExecutionContext): CommandContext {
  return new CommandContext(execution.switchToHttp().getRequest<FastifyRequest>());
}
