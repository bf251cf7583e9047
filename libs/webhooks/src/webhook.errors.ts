import { Conflict, NotFound } from '@fairlead/schema';

/** No such webhook for this tenant, or it has been removed. */
export class WebhookNotFound extends NotFound {
  constructor(id: string) {
    super(`Webhook ID ${id} not found.`);
  }
}

/** Nothing is sent to a disabled webhook. */
export class WebhookDisabledNow extends Conflict {
  constructor() {
    super('The webhook is disabled: enable it first.');
  }
}
