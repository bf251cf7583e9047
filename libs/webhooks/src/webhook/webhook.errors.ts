import { Conflict, NotFound } from '@fairlead/schema';

/** The tenant has no such webhook, or it was removed. */
export class WebhookNotFound extends NotFound {
  constructor(id: string) {
    super(`Webhook ID ${id} not found.`);
  }
}

/** The webhook is disabled, so nothing can be sent. */
export class WebhookDisabledNow extends Conflict {
  constructor() {
    super('The webhook is disabled: enable it first.');
  }
}
