import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

/** Writes Nest's own lines to the log of the server; its start-up report at the level debug. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...context: unknown[]): void {
    this.logger.debug({ context: context.at(-1) }, String(message));
  }

  debug(message: unknown, ...context: unknown[]): void {
    this.log(message, ...context);
  }

  verbose(message: unknown, ...context: unknown[]): void {
    this.log(message, ...context);
  }

  warn(message: unknown, ...context: unknown[]): void {
    this.logger.warn({ context: context.at(-1) }, String(message));
  }

  error(message: unknown, ...context: unknown[]): void {
    const err = message instanceof Error ? message : undefined;
    this.logger.error({ context: context.at(-1), err }, String(message));
  }

  fatal(message: unknown, ...context: unknown[]): void {
    this.error(message, ...context);
  }
}
