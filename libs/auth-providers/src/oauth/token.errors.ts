import { NotFound } from '@fairlead/schema';

/** No such token for this tenant, or it has been removed. */
export class TokenNotFound extends NotFound {
  constructor(id: string) {
    super(`OAuth token ID ${id} not found.`);
  }
}

/** The agent has no such connection with a token. */
export class ConnectionNotFound extends NotFound {
  constructor(id: string) {
    super(`Connection ID ${id} not found.`);
  }
}
