import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor, Dialect } from './access';
import { ifMatch } from './etag';
import { metadataOf, type RequestMetadata } from './metadata';

/** What a command has to know about the request that it comes from. */
export class CommandContext {
  constructor(private readonly request: FastifyRequest) {}

  /** Who sends the request; not to be used on public routes. */
  get actor(): Actor {
    return this.request.actor;
  }

  /** The id of the workspace that the request is about. */
  get tenantId(): string {
    return this.request.actor.tenantId;
  }

  /** Protocol and host by which the request names this service; anybody can name any host. */
  get origin(): string {
    return `${this.request.protocol}://${this.request.host}`;
  }

  /** Address of this machine at which the request arrived. */
  get localAddress(): string | undefined {
    return this.request.socket.localAddress;
  }

  /** The names that the caller's answer uses. */
  get dialect(): Dialect {
    return this.request.dialect;
  }

  /** What events keep of the request: who, in which request, why and after what. */
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

/** The request as commands see it. */
export const Context = createParamDecorator((_: unknown, execution: ExecutionContext) => contextOf(execution));

/** Returns the context of the request that is handled. */
export function contextOf(execution: ExecutionContext): CommandContext {
  return new CommandContext(execution.switchToHttp().getRequest<FastifyRequest>());
}
