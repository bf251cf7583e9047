import { Conflict, NotFound } from '@fairlead/schema';

export class SessionNotFound extends NotFound {
  constructor(id: string) {
    super(`Session ID ${id} not found.`);
  }
}

export class SessionIdTaken extends Conflict {
  constructor(id: string) {
    super(`Session already exists. The id ${id} cannot be used again.`);
  }
}

export class SessionExists extends Conflict {
  constructor(
    readonly id: string,
    because = `Its id is ${id}.`,
  ) {
    super(`Session already exists. ${because}`);
  }
}
