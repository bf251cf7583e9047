import { Conflict, NotFound } from '@fairlead/schema';

/** No such listener for this tenant. */
export class ListenerNotFound extends NotFound {
  constructor(id: string) {
    super(`Listener ID ${id} not found.`);
  }
}

/** The tenant has a listener for this compute already. */
export class ListenerTaken extends Conflict {
  constructor(tenantId: string, computeId: string) {
    super(`Listener for workspace ID '${tenantId}' and compute ID '${computeId}' already exists.`);
  }
}
