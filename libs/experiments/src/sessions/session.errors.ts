import { Conflict } from '@fairlead/schema';

/** The name is in use by another session of the tenant. */
export class SessionExists extends Conflict {
  constructor(readonly id: string) {
    super(`Session already exists. Its id is ${id}.`);
  }
}
