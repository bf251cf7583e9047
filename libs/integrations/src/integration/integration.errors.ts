import { BadRequest, Conflict, HttpProblem, NotFound } from '@fairlead/schema';

/** The request contradicts a rule of integrations; the sentence names the member. */
export class InvalidIntegration extends BadRequest {}

/** The tenant has no such integration, or it was removed. */
export class IntegrationNotFound extends NotFound {
  constructor(id: string) {
    super(`Integration ID ${id} not found.`);
  }
}

/** The push of a code host has no valid proof (401), or cannot be read (400). */
export class DeliveryRefused extends HttpProblem {
  constructor(status: 400 | 401, detail: string) {
    super(status, detail);
  }
}

/** The integration has no such delivery, or its entry was deleted. */
export class DeliveryNotFound extends NotFound {
  constructor(id: string) {
    super(`Delivery ID ${id} not found.`);
  }
}

/** There is nothing of a delivery to try again. */
export class DeliverySettled extends Conflict {
  constructor(id: string, status: string) {
    super(`Delivery ID ${id} has no push that was set aside or ignored: its status is ${status}.`);
  }
}

/** The integration has no report on such a revision, or its entry was deleted. */
export class ReportNotFound extends NotFound {
  constructor(revisionId: string) {
    super(`A report on revision ID ${revisionId} not found.`);
  }
}

/** The host is being told already. */
export class ReportWaits extends Conflict {
  constructor(revisionId: string) {
    super(`The report on revision ID ${revisionId} is waiting already.`);
  }
}
