import { BadRequest, HttpProblem, NotFound } from '@fairlead/schema';

/** The request contradicts a rule of integrations; the sentence names the member. */
export class InvalidIntegration extends BadRequest {}

/** No such integration for this tenant, or it has been removed. */
export class IntegrationNotFound extends NotFound {
  constructor(id: string) {
    super(`Integration ID ${id} not found.`);
  }
}

/** The request of a code host is no push that can be trusted (401) or understood (400). */
export class DeliveryRefused extends HttpProblem {
  constructor(status: 400 | 401, detail: string) {
    super(status, detail);
  }
}
