import { NotFound } from '@fairlead/schema';

/** The webhook has no such delivery, or its entry in the log has been cleared away. */
export class DeliveryNotFound extends NotFound {
  constructor(id: string) {
    super(`Delivery ID ${id} not found.`);
  }
}
