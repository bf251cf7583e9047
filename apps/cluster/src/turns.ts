/**
 * Works on at most `most` items at a time, on the next as soon as one is done.
 * @throws what the first one failed with; no further item is begun then.
 */
export async function inTurns<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const workOff = async () => {
    while (waiting.length > 0) {
      await work(waiting.shift()!).catch((error: unknown) => {
        waiting.length = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: most }, workOff));
}
