import { BadRequest, NotFound } from '@fairlead/schema';

/** The request contradicts a rule of monitors; the sentence names the member. */
export class InvalidMonitor extends BadRequest {}

/** The workspace has no such monitor, or it was deleted. */
export class MonitorNotFound extends NotFound {
  constructor(id: string) {
    super(`Monitor ID ${id} not found.`);
  }
}
