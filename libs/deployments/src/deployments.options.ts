import type { Hosting } from './source-rules';

/** Settings of the deployments service; the class is also their injection token. */
export class DeploymentsOptions {
  constructor(readonly hosting: Hosting = 'any') {}
}
