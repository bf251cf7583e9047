import { Conflict, NotFound } from '@fairlead/schema';

/** The deployment has no such revision. */
export class RevisionNotFound extends NotFound {
  constructor(id: string) {
    super(`Revision ID ${id} not found.`);
  }
}

/** The revision has reached its last status. */
export class RevisionEnded extends Conflict {
  constructor(id: string) {
    super(`Revision ID ${id} has already ended.`);
  }
}

/** Another revision of the deployment is running: this one waits for its end. */
export class RevisionWaits extends Conflict {
  constructor(id: string, running: string) {
    super(`Revision ID ${id} waits until revision ${running} has ended.`);
  }
}
