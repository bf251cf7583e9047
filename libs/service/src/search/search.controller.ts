import { Answers, Area, Describe, Query, Scope } from '@fairlead/api';
import { type Infer, list, literal, note, nullable, object, str, Unavailable, uuid } from '@fairlead/schema';
import { Controller, Get, Req } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const MOST_TEXT = 256;
const MOST_FOUND = 20;

const searchQuery = object({
  q: note(str({ min: 1, max: MOST_TEXT }), 'Part of a name, in upper or lower case.'),
});
const found = object('Found', {
  kind: note(literal(['dataset', 'experiment', 'deployment']), 'What it is.'),
  id: note(uuid(), 'Identifier, as the routes of its kind take it.'),
  name: note(str(), 'What people call it; the search is among these names.'),
  dataset_id: note(nullable(uuid()), 'Dataset that an experiment is on; null for the other kinds.'),
});
const results = object('SearchResults', {
  resources: note(
    list(found),
    'What was found, at most 20: those of exactly this name first, then the newest of each kind.',
  ),
});
type Found = Infer<typeof found>;

interface Thing {
  readonly id: string;
  readonly name: string;
  readonly reference_dataset_id?: string | null;
}

/** Headers of the search that its requests to the lists have as well: who sends them, and from where. */
const PASSED = [
  ...['authorization', 'cookie', 'host', 'origin', 'sec-fetch-site', 'x-api-key', 'x-tenant-id'],
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
];

/** Finds things of all services by their names. It asks the lists of the services, wherever these run. */
@Area('Search')
@Controller('v1/search')
export class SearchController {
  constructor(private readonly host: HttpAdapterHost) {}

  @Get()
  @Scope('read', { strict: true })
  @Describe({ summary: 'Find datasets, experiments and deployments by name' })
  @Answers({ 200: results })
  async search(@Query(searchQuery) { q }: Infer<typeof searchQuery>, @Req() request: FastifyRequest) {
    const lists = await Promise.all(LISTS.map((list) => this.list(request, list, q)));
    const of = (kind: Found['kind']) => {
      const things = lists.flatMap((list, place) => (LISTS[place]!.kind === kind ? list : []));
      return [...new Map(things.map((thing) => [thing.id, foundOf(kind, thing)])).values()];
    };
    return { resources: merged([of('dataset'), of('experiment'), of('deployment')], q) };
  }

  /** The first things of a list, as the sender of a request sees it. @throws Unavailable when it cannot be read now */
  private async list(request: FastifyRequest, { path, by, ...more }: List, q: string): Promise<Thing[]> {
    const instance = this.host.httpAdapter.getInstance<FastifyInstance>();
    const query = { ...more.query, [by]: q, limit: String(MOST_FOUND) };
    const { remoteAddress } = request.raw.socket;
    const answer = await instance.inject({ method: 'GET', url: path, query, headers: passed(request), remoteAddress });
    if (answer.statusCode !== 200) throw new Unavailable(1, `The list ${path} cannot be read now, try again.`);
    const json: Thing[] | { readonly resources: Thing[] } = answer.json();
    return Array.isArray(json) ? json : json.resources;
  }
}

/** A list that is asked for what has a name, exactly or as a part. */
interface List {
  readonly kind: Found['kind'];
  readonly path: string;
  readonly by: 'name' | 'name_contains';
  readonly query?: Readonly<Record<string, string>>;
}

const DATASETS = { kind: 'dataset', path: '/api/v1/datasets' } as const;
const EXPERIMENTS = { kind: 'experiment', path: '/api/v1/sessions', query: { reference_free: 'false' } } as const;
const LISTS: readonly List[] = [
  { ...DATASETS, by: 'name' },
  { ...DATASETS, by: 'name_contains', query: { sort_by: 'created_at' } },
  { ...EXPERIMENTS, by: 'name' },
  { ...EXPERIMENTS, by: 'name_contains' },
  { kind: 'deployment', path: '/v2/deployments', by: 'name_contains' },
];

/** The headers of a request for a list. */
function passed({ headers, id }: FastifyRequest) {
  const sent = PASSED.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return { ...(Object.fromEntries(sent) as FastifyRequest['headers']), 'x-request-id': id };
}

function foundOf(kind: Found['kind'], { id, name, reference_dataset_id = null }: Thing): Found {
  return { kind, id, name, dataset_id: reference_dataset_id };
}

/** Results with exactly this name first, then the others, one of each kind after the other. */
function merged(kinds: readonly (readonly Found[])[], q: string): Found[] {
  const wanted = q.toLowerCase();
  const longest = Math.max(...kinds.map(({ length }) => length));
  const all = Array.from({ length: longest }, (_, place) => kinds.flatMap((kind) => kind[place] ?? [])).flat();
  const isExact = ({ name }: Found) => name.toLowerCase() === wanted;
  return [...all.filter(isExact), ...all.filter((one) => !isExact(one))].slice(0, MOST_FOUND);
}
