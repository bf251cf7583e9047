import { BadRequest } from '@fairlead/schema';

export class AttachmentMismatch extends BadRequest {
  constructor(id: string, why: string) {
    super(`The attachments of example ${id} cannot be changed: ${why}.`);
  }
}
