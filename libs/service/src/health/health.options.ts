/** Decides who may see why something does not work. */
export class HealthOptions {
  /** `metricsToken`: as for `GET /metrics`. Without a token, only requests from this machine see the reasons. */
  constructor(readonly metricsToken?: string) {}
}
