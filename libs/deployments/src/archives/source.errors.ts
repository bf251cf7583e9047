import { Conflict, Forbidden } from '@fairlead/schema';

/** Something else was uploaded to the path before. */
export class SourceTaken extends Conflict {
  constructor() {
    super('Another archive was already uploaded to this URL; ask for a new one.');
  }
}

/** The upload URL was not made here, was changed, or has expired. */
export class UploadRefused extends Forbidden {}
