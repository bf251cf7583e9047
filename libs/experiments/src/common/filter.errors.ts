import { BadRequest } from '@fairlead/schema';

/** The filter is not understood; the sentence names the part. */
export class FilterError extends BadRequest {
  constructor(what: string) {
    super(`The filter is not understood: ${what}`);
  }
}
