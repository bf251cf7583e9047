import { BadRequest, NotFound } from '@fairlead/schema';

/** The request contradicts a rule of views; the sentence names the member. */
export class InvalidSavedView extends BadRequest {}

/** The workspace has no such view, or it was deleted. */
export class SavedViewNotFound extends NotFound {
  constructor(id: string) {
    super(`View ID ${id} not found.`);
  }
}
