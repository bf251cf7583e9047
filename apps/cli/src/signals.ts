const controller = new AbortController();

/** Aborted by Ctrl-C or SIGTERM. */
export const signal: AbortSignal = controller.signal;

/** The first signal ends what is under way in order, a second one everything at once. */
export function listenForSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (signal.aborted) process.exit(130);
      controller.abort();
    });
  }
}
