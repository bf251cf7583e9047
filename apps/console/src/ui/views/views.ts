import type { Schemas } from '../../api/client';
import type { Parameters } from '../address';

export type SavedView = Schemas['SavedView'];

/** Parameters of an address that say where one stands in a list, not which list it is. */
const PLACES: ReadonlySet<string> = new Set(['view', 'offset', 'tab', 'row', 'example', 'entry']);

/** The parameters of an address that make a view. */
export function viewOf(search: Parameters): Record<string, string> {
  const given = Object.entries(search).filter(
    ([name, value]) => !PLACES.has(name) && value !== undefined && value !== '',
  );
  return Object.fromEntries(given) as Record<string, string>;
}

/** Changes of an address that make it show a view, in place of the one that it shows. */
export function changesTo(search: Parameters, view: SavedView | undefined): Parameters {
  const dropped = Object.fromEntries(Object.keys(viewOf(search)).map((name) => [name, undefined]));
  const shown = view && Object.fromEntries(Object.entries(view.parameters).filter(([name]) => !PLACES.has(name)));
  return { ...dropped, offset: undefined, ...shown, view: view?.id };
}

/** True when an address shows a view as it was saved. */
export function isAsSaved(search: Parameters, { parameters }: SavedView): boolean {
  const shown = viewOf(search);
  const names = new Set([...Object.keys(shown), ...Object.keys(parameters)]);
  return [...names].every((name) => shown[name] === parameters[name]);
}
