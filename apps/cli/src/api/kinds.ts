import { EXIT, Failure, Usage } from '../failure';
import { clean } from '../output/text';
import { type Api, isUuid, type Query } from './api';

/** A kind of thing with an id and a name: its list, and the members that name it, the best first. */
interface Named {
  readonly path: string;
  readonly names: readonly string[];
  /** Parameter of the list that narrows it to a name, and to ids. */
  readonly byName?: string;
  readonly byId?: string;
}

const KINDS = {
  deployment: { path: '/v2/deployments', names: ['name'], byName: 'name_contains' },
  dataset: { path: '/api/v1/datasets', names: ['name'], byName: 'name', byId: 'id' },
  experiment: { path: '/api/v1/sessions', names: ['name'], byName: 'name', byId: 'id' },
  integration: { path: '/v1/integrations', names: ['name'] },
  webhook: { path: '/v1/webhooks', names: ['url', 'description'] },
  listener: { path: '/v2/listeners', names: ['compute_id'] },
  monitor: { path: '/v1/monitors', names: ['name'] },
  view: { path: '/v1/views', names: ['name'] },
  workspace: { path: '/api/v1/workspaces', names: ['display_name', 'tenant_handle'] },
  key: { path: '/api/v1/api-key', names: ['description', 'short_key'] },
} as const satisfies Record<string, Named>;
export type Kind = keyof typeof KINDS;

/** Members and parameters of the API that hold an id of a kind. */
const HOLDERS: Readonly<Record<string, Kind>> = {
  session: 'experiment',
  project: 'experiment',
  tenant: 'workspace',
  reference_dataset: 'dataset',
  actor: 'key',
  made_by: 'key',
  created_by: 'key',
};
const PAGE = 100;
const MOST_PAGES = 50;

/** The kind of thing that a member or parameter such as `dataset_id` names; undefined for others. */
export function kindOf(member: string): Kind | undefined {
  const stem = member.replace(/_ids?$/, '');
  if (Object.hasOwn(HOLDERS, stem)) return HOLDERS[stem];
  return stem !== 'key' && Object.hasOwn(KINDS, stem) ? (stem as Kind) : undefined;
}

/**
 * The id of the thing of this id or exact name. A deployment that is being deleted keeps its name, which a new one may
 * have too: the name then means the new one.
 *
 * @throws Usage when several have the name, Failure when none has it
 */
export async function idOf(api: Api, kind: Kind, idOrName: string): Promise<string> {
  if (isUuid(idOrName)) return idOrName;
  const { names, byName }: Named = KINDS[kind];
  const named: Thing[] = [];
  for await (const thing of things(api, kind, byName === undefined ? {} : { [byName]: idOrName }, MOST_PAGES)) {
    if (names.some((name) => thing[name] === idOrName)) named.push(thing);
  }
  const lasting = named.filter(({ status }) => status !== 'AWAITING_DELETE');
  const found = (lasting.length > 0 ? lasting : named).map(({ id }) => id as string);
  if (found.length > 1) {
    throw new Usage(`Several ${kind}s are named ${idOrName}: give the id of one (${found.join(', ')}).`);
  }
  if (found[0] === undefined) throw new Failure(`No ${kind} is named ${idOrName}.`, EXIT.notFound);
  return found[0];
}

/** Names by id, as far as one page of the list tells them; none where the key may not read it. */
export async function namesOf(api: Api, kind: Kind, ids: readonly string[]): Promise<Map<string, string>> {
  const wanted = new Set(ids);
  const { names, byId }: Named = KINDS[kind];
  const found = new Map<string, string>();
  try {
    const query = byId === undefined ? {} : { [byId]: [...wanted] };
    for await (const thing of wanted.size === 0 ? [] : things(api, kind, query, 1)) {
      const name = names.map((member) => thing[member]).find((text) => typeof text === 'string' && text !== '');
      if (wanted.delete(thing.id as string) && name !== undefined) found.set(thing.id as string, name as string);
      if (wanted.size === 0) break;
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode === EXIT.interrupted) throw error;
  }
  return found;
}

/** Names of a kind that begin with a text, of the first `pages` pages of its list; none with control characters. */
export async function namesBeginning(api: Api, kind: Kind, beginning: string, pages: number): Promise<string[]> {
  const { names, byName }: Named = KINDS[kind];
  const found = new Set<string>();
  const query = byName === undefined || beginning === '' ? {} : { [byName]: beginning };
  for await (const thing of things(api, kind, query, pages)) {
    const name = names.map((member) => thing[member]).find((text) => typeof text === 'string' && text !== '');
    if (typeof name === 'string' && name.startsWith(beginning) && clean(name) === name) found.add(name);
  }
  return [...found];
}

/** True for the name of a kind. */
export function isKind(text: string): text is Kind {
  return Object.hasOwn(KINDS, text);
}

type Thing = Readonly<Record<string, unknown>>;

async function* things(api: Api, kind: Kind, query: Query, pages: number): AsyncGenerator<Thing> {
  const { path } = KINDS[kind];
  for (let page = 0, offset = 0; page < pages; page++) {
    const answer = await api.get<Thing[] | { resources: Thing[] }>(path, { ...query, limit: PAGE, offset });
    const found = Array.isArray(answer) ? answer : answer.resources;
    yield* found;
    offset += found.length;
    // Lists that are not paged take no limit.
    if (found.length !== PAGE) return;
  }
}
