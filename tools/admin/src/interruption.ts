/**
 * Aborts at Ctrl-C or SIGTERM, so that what was begun is taken away and a PostgreSQL of our own stopped; the same signal
 * again ends the process at once.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      console.error(`\n${name}: stopping; send it again to stop at once.`);
      controller.abort(new Error('Stopped before it was done.'));
    });
  }
  return controller.signal;
}
