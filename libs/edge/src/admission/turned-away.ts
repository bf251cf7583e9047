import type { Logger } from 'pino';
import type { RequestContext } from '../request-context';

const EVERY_MS = 1000;

/** Told of each request that was turned away. */
export type Report = (reason: NonNullable<RequestContext['shed']>) => void;

/** Says once a second how many requests were turned away: a line for each would make an overload worse. */
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
