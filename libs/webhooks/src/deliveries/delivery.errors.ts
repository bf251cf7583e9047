import { NotFound } from '@fairlead/schema';

/** The webhook has no such delivery, or its log entry was deleted. */
export class DeliveryNotFound extends NotFound {
  constructor(id: string) {
    super(`Delivery ID ${id} not found.`);
  }
}
