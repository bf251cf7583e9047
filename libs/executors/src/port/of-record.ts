/** Errors of the log and the database. They are no failures of what is rolled out or controlled: the task is done again. */
const ofRecord = new WeakSet<object>();

/** Settles as `work` does, and remembers with what it rejects as an error of the log or the database, if it `isOne`. */
export async function recorded<T>(work: Promise<T>, isOne: (error: Error) => boolean = () => true): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && isOne(error)) ofRecord.add(error);
    throw error;
  }
}

/** Returns true for an error of the log or the database, or one caused by it: executors wrap errors in their own. */
export function isOfRecord(error: unknown): boolean {
  return error instanceof Error && (ofRecord.has(error) || isOfRecord(error.cause));
}
