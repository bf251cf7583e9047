import { page, paging } from '@fairlead/api';
import { fixed, literal, note, object, optional, record, refine, str, timestamp, uuid } from '@fairlead/schema';
import { VIEW_PAGES } from './saved-view';

const [MOST_PARAMETERS, MOST_CHARACTERS] = [50, 8000];

const name = note(str({ min: 1, max: 100 }), 'Name that people see.');
const list = note(literal(VIEW_PAGES), 'The list of the console that it is a view of; `traces`: that of any project.');
const parameters = note(
  refine(record(str()), (given) => {
    const all = Object.entries(given);
    if (all.length > MOST_PARAMETERS) return `give at most ${MOST_PARAMETERS} parameters`;
    const characters = all.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
    return characters > MOST_CHARACTERS ? `give at most ${MOST_CHARACTERS} characters` : undefined;
  }),
  `Parameters of the address of the list: its filters, order and columns; ${MOST_PARAMETERS} at most, with ${MOST_CHARACTERS} characters.`,
);

/** Body of POST /v1/views. */
export const createRequest = object('SavedViewCreateRequest', { page: list, name, parameters });

/** Body of PATCH. */
export const changeRequest = object('SavedViewPatchRequest', {
  page: fixed(literal(VIEW_PAGES)),
  name: optional(name),
  parameters: optional(parameters),
});

export const viewPath = object({ view_id: note(uuid(), 'The `id` of a view of this workspace.') });
export const viewsQuery = object({
  page: note(optional(literal(VIEW_PAGES)), 'Only views of this list.'),
  ...paging,
});

export const savedView = object('SavedView', {
  id: note(uuid(), 'Identifier of the view.'),
  page: list,
  name,
  parameters,
  created_at: note(timestamp(), 'When the view was created.'),
  updated_at: note(timestamp(), 'When the view last changed.'),
});
export const savedViews = page('SavedViewsList', savedView);
