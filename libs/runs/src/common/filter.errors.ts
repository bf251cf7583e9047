import { BadRequest } from '@fairlead/schema';

export class FilterError extends BadRequest {
  constructor(what: string) {
    super(`The filter is not understood: ${what}`);
  }
}
