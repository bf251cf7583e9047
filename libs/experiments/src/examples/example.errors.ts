import { BadRequest } from '@fairlead/schema';

/** An operation names an attachment that the example does not have, or gives two attachments one name. */
export class AttachmentMismatch extends BadRequest {
  constructor(id: string, why: string) {
    super(`The attachments of example ${id} cannot be changed: ${why}.`);
  }
}
