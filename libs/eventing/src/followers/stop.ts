import type { Logger } from '@nestjs/common';

/** Longest wait of a stopping process for its own work (ms). A statement or a handler that hangs may take for ever. */
const STOP_MS = 30_000;

/**
 * Resolves when `work` has ended, or after `ms` milliseconds with a line in the log that says what is left behind. The
 * transactions of what is left behind end with their connections, and the next process does it again.
 */
export async function endOf(
  work: Promise<unknown>,
  logger: Pick<Logger, 'warn'>,
  what: () => string,
  ms = STOP_MS,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      logger.warn(`${what()} did not stop within ${ms} ms and is left behind.`);
      resolve();
    }, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
