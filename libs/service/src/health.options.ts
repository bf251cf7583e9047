/** Who is shown why something does not work. */
export class HealthOptions {
  /** `metricsToken`: as for `GET /metrics`; without one the reasons are for this machine only. */
  constructor(readonly metricsToken?: string) {}
}
