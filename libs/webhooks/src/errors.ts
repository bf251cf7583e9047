/** No such webhook for this tenant, or it has been removed. */
export class WebhookNotFound extends Error {
  override name = 'WebhookNotFound';
  constructor(id: string) {
    super(`Webhook ID ${id} not found.`);
  }
}

/** The webhook has no such delivery, or its entry in the log has been cleared away. */
export class DeliveryNotFound extends Error {
  override name = 'DeliveryNotFound';
  constructor(id: string) {
    super(`Delivery ID ${id} not found.`);
  }
}

/** Nothing is sent to a disabled webhook. */
export class WebhookDisabledNow extends Error {
  override name = 'WebhookDisabledNow';
  constructor() {
    super('The webhook is disabled: enable it first.');
  }
}
