import { Conflict, Forbidden, NotFound } from '@fairlead/schema';

/** Something else was uploaded to the path before. */
export class SourceTaken extends Conflict {
  constructor() {
    super('Another archive was already uploaded to this URL; ask for a new one.');
  }
}

/** The upload URL was not made here, was changed, or has expired. */
export class UploadRefused extends Forbidden {}

/** The revision was not made from a repository, or its commit was not found out. */
export class NoCommit extends NotFound {
  constructor(revisionId: string) {
    super(`Revision ID ${revisionId} has no commit of a code host.`);
  }
}

/** The revision was not made from an uploaded archive, or nothing was uploaded to its path. */
export class NoSource extends NotFound {
  constructor(revisionId: string) {
    super(`Revision ID ${revisionId} has no uploaded source.`);
  }
}
