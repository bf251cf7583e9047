import { Conflict, NotFound } from '@fairlead/schema';

/** The id or the handle of a new tenant is in use. */
export class TenantExists extends Conflict {}

/** There is no such workspace. */
export class TenantNotFound extends NotFound {
  constructor(id: string) {
    super(`Workspace ID ${id} not found.`);
  }
}

/** The workspace cannot be stopped, or cannot work again. */
export class TenantStays extends Conflict {}
