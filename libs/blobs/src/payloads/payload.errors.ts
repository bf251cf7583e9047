import { Unavailable } from '@fairlead/schema';

/** The payload that was there a moment ago has just been swept; sending it again helps. */
export class PayloadGone extends Unavailable {
  constructor() {
    super(1);
  }
}
