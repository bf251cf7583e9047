import {
  DRAIN_MS,
  type Edge,
  SERVICE_NAMES,
  type Settings,
  startEdge,
  StartProblem,
  urlVariable,
} from '@fairlead/service';

/**
 * Starts the public door to services that run in processes of their own, and listens.
 * @throws StartProblem when it is not told where one of them is, and what `startEdge` throws.
 */
export async function startGateway(settings: Settings): Promise<Edge> {
  const missing = SERVICE_NAMES.filter((name) => !settings.serviceUrls[name]);
  if (missing.length > 0) {
    const names = missing.map(urlVariable);
    throw new StartProblem(`The gateway must know where the services are: set ${names.join(', ')}.`);
  }
  return startEdge({ name: 'gateway', drain: DRAIN_MS }, settings);
}
