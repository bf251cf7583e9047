import type { Logger } from 'pino';
import type { RequestContext } from './request-context';

const EVERY_MS = 1000;

/** Called for each request that was refused because of overload. */
export type Report = (reason: NonNullable<RequestContext['shed']>) => void;

/** Logs once a second how many requests were refused: one line for each would make an overload worse. */
export function reportTurnedAway(logger: Logger): Report {
  let counts = { rate: 0, capacity: 0 };
  let timer: NodeJS.Timeout | undefined;
  return (reason) => {
    counts[reason]++;
    timer ??= setTimeout(() => {
      logger.warn(counts, 'Requests were turned away');
      counts = { rate: 0, capacity: 0 };
      timer = undefined;
    }, EVERY_MS).unref();
  };
}
