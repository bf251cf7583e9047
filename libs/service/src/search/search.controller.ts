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
    const ask = (path: string, query: Record<string, string>) => this.list(request, path, query);
    const sessions = { reference_free: 'false' };
    const lists = await Promise.all([
      ask('/api/v1/datasets', { name: q }),
      ask('/api/v1/datasets', { name_contains: q, sort_by: 'created_at' }),
      ask('/api/v1/sessions', { ...sessions, name: q }),
      ask('/api/v1/sessions', { ...sessions, name_contains: q }),
      ask('/v2/deployments', { name_contains: q }),
    ]);
    const [namedDatasets, datasets, namedExperiments, experiments, deployments] = lists.map(
      (things, place) => new Map(things.map((thing) => [thing.id, foundOf(KINDS[place]!, thing)])),
    );
    const kinds = [
      [...new Map([...namedDatasets!, ...datasets!]).values()],
      [...new Map([...namedExperiments!, ...experiments!]).values()],
      [...deployments!.values()],
    ];
    return { resources: merged(kinds, q) };
  }

  /** The first things of a list, as the sender of a request sees it. @throws Unavailable when it cannot be read now */
  private async list(request: FastifyRequest, path: string, query: Record<string, string>): Promise<Thing[]> {
    const instance = this.host.httpAdapter.getInstance<FastifyInstance>();
    const headers = Object.fromEntries(
      PASSED.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, request.headers[name]]])),
    );
    const answer = await instance.inject({
      method: 'GET',
      url: path,
      query: { ...query, limit: String(MOST_FOUND) },
      headers: { ...headers, 'x-request-id': request.id },
      remoteAddress: request.raw.socket.remoteAddress,
    });
    if (answer.statusCode !== 200) throw new Unavailable(1, `The list ${path} cannot be read now, try again.`);
    const json: Thing[] | { readonly resources: Thing[] } = answer.json();
    return Array.isArray(json) ? json : json.resources;
  }
}

const KINDS = ['dataset', 'dataset', 'experiment', 'experiment', 'deployment'] as const;

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
