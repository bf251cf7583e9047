import { type Aggregate, changedMembers, type DomainEvent, type Model, type Recorded } from '@fairlead/eventing';
import { InvalidSavedView, SavedViewNotFound } from './saved-view.errors';

/** Lists whose filters, order and columns can be kept under a name. */
export const VIEW_PAGES = [
  'experiments',
  'datasets',
  'examples',
  'projects',
  'traces',
  'deployments',
  'audit',
] as const;

/** A list as somebody wants to see it again. */
interface SavedViewFacts {
  readonly name: string;
  /** Parameters of the address of the list: its filters, its order, its columns. */
  readonly parameters: Readonly<Record<string, string>>;
}

type SavedViewCreated = DomainEvent<
  'SavedViewCreated',
  SavedViewFacts & {
    readonly view_id: string;
    readonly tenant_id: string;
    readonly page: (typeof VIEW_PAGES)[number];
  }
>;
/** The changed members, each as it is after the change. */
type SavedViewChanged = DomainEvent<'SavedViewChanged', Partial<SavedViewFacts>>;
type SavedViewDeleted = DomainEvent<'SavedViewDeleted', { readonly view_id: string }>;

/** All events of a stream `savedView-<id>`. */
export type SavedViewEvent = SavedViewCreated | SavedViewChanged | SavedViewDeleted;

export interface SavedView extends SavedViewFacts {
  readonly id: string;
  readonly tenant_id: string;
  readonly page: (typeof VIEW_PAGES)[number];
  readonly created_at: string;
  readonly updated_at: string;
  readonly removed: boolean;
}

/** null until the view has been created. */
type SavedViewState = SavedView | null;

export const savedViewModel: Model<SavedViewState, SavedViewEvent> = { initial: null, evolve };

export const savedViewAggregate: Aggregate<SavedView, SavedViewEvent> = {
  category: 'savedView',
  model: savedViewModel,
  notFound: (id) => new SavedViewNotFound(id),
};

function evolve(state: SavedViewState, event: Recorded<SavedViewEvent>): SavedViewState {
  const { time } = event;
  if (event.type === 'SavedViewCreated') {
    const { view_id: id, ...members } = event.data;
    return { id, ...members, created_at: time, updated_at: time, removed: false };
  }
  if (!state) return state;
  if (event.type === 'SavedViewChanged') return { ...state, ...event.data, updated_at: time };
  return { ...state, removed: true };
}

/** Creates a view under an id made by the caller. */
export function createView(wanted: SavedViewCreated['data']): (state: SavedViewState) => SavedViewEvent[] {
  return (state) => (state ? [] : [{ type: 'SavedViewCreated', data: wanted }]);
}

/** Changes the members that are sent and differ. @throws InvalidSavedView for another list */
export function changeView({
  page,
  name,
  parameters,
}: Partial<SavedViewFacts & Pick<SavedView, 'page'>>): (state: SavedView) => SavedViewEvent[] {
  return (state) => {
    if ((page ?? state.page) !== state.page) throw new InvalidSavedView('page cannot be changed after creation.');
    const data = changedMembers<Partial<SavedViewFacts>>(state, { name, parameters });
    return data ? [{ type: 'SavedViewChanged', data }] : [];
  };
}

export function deleteView({ id }: SavedView): SavedViewEvent[] {
  return [{ type: 'SavedViewDeleted', data: { view_id: id } }];
}
