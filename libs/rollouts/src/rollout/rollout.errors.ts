import { unreachable } from '@fairlead/eventing';
import { recorded } from '@fairlead/executors';
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

/** As `recorded`, for work that can fail for other reasons as well: only an unreachable database is remembered. */
export function partlyRecorded<T>(work: Promise<T>): Promise<T> {
  return recorded(work, (error) => unreachable(error) && !(error instanceof HttpProblem));
}
