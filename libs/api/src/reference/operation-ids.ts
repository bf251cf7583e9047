import { operationsOf } from '../route/describe';
import type { DescribedRoute } from '../route/routes';

/**
 * Returns a unique name for each route, from its controller, or what `@Area` names instead, and its handler:
 * `deploymentsList`, or `info` when both have the same name. For a handler with several paths, the names of further paths end with the segments that the first path
 * lacks: `repositoriesListManaged`.
 */
export function operationIds(routes: readonly DescribedRoute[]): Map<DescribedRoute, string> {
  const first = new Map<string, string>();
  return new Map(
    routes.map((route) => {
      const { controller, handler } = route.description;
      const area = (controller as { name: string }).name.replace(/Controller$/, '');
      const thing = operationsOf(controller) ?? area.charAt(0).toLowerCase() + area.slice(1);
      const name = thing.toLowerCase().endsWith(handler.toLowerCase()) ? thing : thing + capital(handler);
      const known = first.get(name);
      if (known === undefined) {
        first.set(name, route.path);
        return [route, name];
      }
      const segments = known.split('/');
      const further = route.path.split('/').filter((segment) => !segments.includes(segment));
      return [route, name + further.map(capital).join('')];
    }),
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
