import { Conflict, NotFound } from '@fairlead/schema';

/** The tenant has no session of this id. */
export class SessionNotFound extends NotFound {
  constructor(id: string) {
    super(`Session ID ${id} not found.`);
  }
}

/** A session of this id is or was there. */
export class SessionIdTaken extends Conflict {
  constructor(id: string) {
    super(`Session already exists. The id ${id} cannot be used again.`);
  }
}

/** The name is in use by another session of the tenant. */
export class SessionExists extends Conflict {
  constructor(
    readonly id: string,
    because = `Its id is ${id}.`,
  ) {
    super(`Session already exists. ${because}`);
  }
}
