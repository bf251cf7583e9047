/** Routes that LangSmith has too, among those below `/v1`, and the deliveries of code hosts, whose addresses others write. */
const SHARED = /^\/v1\/(?:integrations\/(?:codehost|managed)\/|integrations\/:integration_id\/webhook$|projects\/)/;
const OWN = /^\/v1\/|^\/api\/v1\/datasets\/:dataset_id\/compare(?:\/|$)/;

/**
 * Whether a route, by its path as its controller declares it, is Fairlead's alone: then a query parameter that it does not
 * know is refused, so that no misspelt filter passes. Other routes ignore such parameters as LangSmith does.
 */
export function isOwn(route: string): boolean {
  return OWN.test(route) && !SHARED.test(route);
}
