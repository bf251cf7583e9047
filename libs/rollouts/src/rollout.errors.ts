import { unreachable } from '@fairlead/eventing';
import { Conflict, HttpProblem, NotFound } from '@fairlead/schema';

/** No such deployment for this tenant, or it has been removed. */
export class DeploymentMissing extends NotFound {
  constructor(id: string) {
    super(`Deployment ID ${id} not found.`);
  }
}

/** The deployment has no such revision. */
export class RevisionMissing extends NotFound {
  constructor(id: string) {
    super(`Revision ID ${id} not found.`);
  }
}

/** No command can be run beside the program of the deployment; the reason completes the sentence. */
export class CommandRefused extends Conflict {
  constructor(id: string, reason: string) {
    super(`No command can be run in deployment ID ${id}: ${reason}.`);
  }
}

/** Errors of the log and the database. They are no failures of what is rolled out or controlled: the task is done again. */
const ofRecord = new WeakSet<object>();

/** Settles as `work` does, and remembers with what it rejects as an error of the log or the database. */
export async function recorded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error) ofRecord.add(error);
    throw error;
  }
}

/** As `recorded`, for work that can fail for other reasons as well: only an unreachable database is remembered. */
export async function partlyRecorded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && unreachable(error) && !(error instanceof HttpProblem)) ofRecord.add(error);
    throw error;
  }
}

/** Returns true for an error of the log or the database, or one caused by it: executors wrap errors in their own. */
export function isOfRecord(error: unknown): boolean {
  return error instanceof Error && (ofRecord.has(error) || isOfRecord(error.cause));
}
