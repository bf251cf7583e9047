import { NotFound, Unauthorized } from '@fairlead/schema';

/** No session of this id that may be seen. */
export class ConsoleSessionNotFound extends NotFound {
  constructor(id: string) {
    super(`Console session ID ${id} not found.`);
  }
}

/** The code of a link is unknown, was used, or is too old, or its key has ended. */
export class CodeUnusable extends Unauthorized {
  constructor() {
    super('This link was used already, or is older than ten minutes. Make a new one, or use a key.');
  }
}
