import type { Logger } from 'pino';
import type { Visit } from './visit';

const EVERY_MS = 1000;

/**
 * Says once a second how many requests were turned away: a line for each would make an overload worse. Answers what is
 * to be told of each.
 */
export function reportTurnedAway(logger: Logger): (reason: NonNullable<Visit['shed']>) => void {
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
