import { BadRequest, Conflict, Forbidden, NotFound } from '@fairlead/schema';

/** The manager lacks a scope, or the reach, that the new key would have. */
export class GrantNotHeld extends Forbidden {}

/** The new key could never be used, or would outlive its maker. */
export class UselessKey extends BadRequest {}

/** No live key of this id that the manager may see. */
export class KeyNotFound extends NotFound {
  constructor(id: string) {
    super(`API key ID ${id} not found.`);
  }
}

/** The operator's key is the admin key that is always left. */
export class LastAdminKey extends Conflict {
  constructor() {
    super('This is the key of the setting FAIRLEAD_API_KEY, the last admin key: change the setting to replace it.');
  }
}
