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

/** The gates of the revision have neither let it through nor been overridden. */
export class RevisionHeldByGates extends Conflict {
  constructor(id: string) {
    super(`Revision ID ${id} is held by its gates.`);
  }
}

/** Nothing holds the revision: no gate applies to it, or it has been let through. */
export class RevisionNotHeld extends Conflict {
  constructor(id: string) {
    super(`Revision ID ${id} is not held by gates.`);
  }
}

/** The code host has not told yet which commit the latest revision stands for. */
export class CommitUnknown extends Conflict {
  constructor() {
    super('The commit of the latest revision is not known yet, try again.');
  }
}
