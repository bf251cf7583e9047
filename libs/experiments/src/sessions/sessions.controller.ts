import { EventStore } from '@fairlead/eventing';
import { Access, Area, Describe, metadataOf, path, query, shape, validateRequest } from '@fairlead/api';
import {
  bool,
  datetime,
  type Infer,
  instant,
  int,
  literal,
  object,
  optional,
  rawDict,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { experimentsView } from './experiments.view';
import { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import { removed } from '../datasets/datasets.answers.schema';
import { hasDataset } from '../datasets/datasets.queries';
import { type OpaqueBody, readOpaqueBody } from '../opaque.body';
import { array } from '../platform-json';
import { found, idPath, iso, JSON_TEXT, oneOrMany, searchedObject } from '../reading.http';
import type { SessionChanges } from './session-patch';
import { plainSession, session } from './sessions.answers.schema';
import { createSession, deleteSession, patchSession, sessionNamed } from './sessions.commands';
import { createdSession, findPlainSession, findSession, listSessions } from './sessions.queries';

const SORTS = [
  'name',
  'start_time',
  'last_run_start_time',
  'latency_p50',
  'latency_p99',
  'error_rate',
  'feedback',
  'runs_count',
] as const;
const TIERS = ['longlived', 'shortlived'] as const;
const MOST_NAME = 512;

const listQuery = object({
  reference_free: optional(bool()),
  reference_dataset: optional(oneOrMany(uuid())),
  id: optional(oneOrMany(uuid())),
  name: optional(str()),
  name_contains: optional(str()),
  dataset_version: optional(str()),
  sort_by: optional(literal(SORTS), 'start_time'),
  sort_by_desc: optional(bool(), true),
  metadata: optional(str()),
  sort_by_feedback_key: optional(str()),
  sort_by_feedback_source: optional(literal(['session', 'run'])),
  offset: optional(int({ ge: 0 }), 0),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  tag_value_id: optional(oneOrMany(uuid())),
  facets: optional(bool(), false),
  filter: optional(str()),
  // Statistics are part of every answer, computed once over all runs: these members are checked and change nothing.
  include_stats: optional(bool(), false),
  use_approx_stats: optional(bool(), false),
  stats_start_time: optional(datetime()),
  stats_select: optional(oneOrMany(str())),
  stats_filter: optional(str()),
});
const oneQuery = object({ include_stats: optional(bool(), false), stats_start_time: optional(datetime()) });
const sessionPath = idPath('session_id');
const createQuery = object({ upsert: optional(bool(), false) });
const changeable = {
  end_time: optional(datetime()),
  extra: optional(rawDict()),
  name: optional(str({ min: 1, max: MOST_NAME })),
  description: optional(str()),
  default_dataset_id: optional(uuid()),
  trace_tier: optional(literal(TIERS)),
};
const createBody = object(
  { start_time: optional(datetime()), ...changeable, reference_dataset_id: optional(uuid()), id: optional(uuid()) },
  'TracerSessionCreate',
);
const patchBody = object(changeable, 'TracerSessionUpdate');

@Area('Experiments')
@Controller('api/v1/sessions')
export class SessionsController {
  constructor(
    readonly pool: Pool,
    readonly store: EventStore,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List sessions: experiments and tracing projects',
    query: listQuery,
    answers: { 200: shape.list(session) },
  })
  async list(@Req() request: FastifyRequest): Promise<string> {
    const asked = query(listQuery, request);
    const metadata = searchedObject('metadata', asked.metadata);
    return array(await listSessions(this.pool, request.actor.tenantId, { ...asked, metadata }));
  }

  @Get(':session_id')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Get a session with its statistics',
    path: sessionPath,
    query: oneQuery,
    answers: { 200: session },
  })
  async one(@Req() request: FastifyRequest): Promise<string> {
    const { path: asked } = validateRequest(request, { path: sessionPath, query: oneQuery });
    return found(
      await findSession(this.pool, request.actor.tenantId, asked.session_id),
      'Session ID',
      asked.session_id,
    );
  }

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Create a session',
    description: 'With `upsert`, one that has this name is changed instead.',
    query: createQuery,
    body: createBody,
    answers: { 200: plainSession, 404: 'There is no such dataset.', 409: 'There is a session of this name.' },
    takes: ['x-reason'],
  })
  async create(@Req() request: FastifyRequest): Promise<string> {
    const { tenantId } = request.actor;
    const sent = await readOpaqueBody(request);
    const { query: asked, body: given } = validateRequest(request, { query: createQuery, body: createBody });
    const id = given.id ?? newId();
    const name = given.name ?? `session-${id.slice(0, 8)}`;
    for (const dataset of [given.reference_dataset_id, given.default_dataset_id]) {
      if (dataset) found((await hasDataset(this.pool, tenantId, dataset)) || undefined, 'Dataset ID', dataset);
    }
    const existing = asked.upsert ? await sessionNamed(this, tenantId, name) : undefined;
    if (existing) return this.change(request, existing, changesIn(sent, { ...given, name: undefined }));
    const data = {
      name,
      description: given.description ?? null,
      start_time: (given.start_time ?? instant()).iso,
      end_time: iso(given.end_time) ?? null,
      extra: sent.members().get('extra') ?? null,
      reference_dataset_id: given.reference_dataset_id ?? null,
      default_dataset_id: given.default_dataset_id ?? null,
      trace_tier: given.trace_tier ?? 'longlived',
    };
    await createSession(this, tenantId, id, data, metadataOf(request));
    return createdSession(tenantId, id, data);
  }

  @Patch(':session_id')
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Change a session',
    path: sessionPath,
    body: patchBody,
    answers: { 200: plainSession, 409: 'There is a session of this name.' },
    takes: ['x-reason'],
  })
  async patch(@Req() request: FastifyRequest): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { path: asked, body: given } = validateRequest(request, { path: sessionPath, body: patchBody });
    const dataset = given.default_dataset_id;
    if (dataset)
      found((await hasDataset(this.pool, request.actor.tenantId, dataset)) || undefined, 'Dataset ID', dataset);
    return this.change(request, asked.session_id, changesIn(sent, given));
  }

  @Delete(':session_id')
  @Access('write')
  @Describe({
    summary: 'Delete a session with its runs',
    path: sessionPath,
    answers: { 200: removed },
    takes: ['x-reason'],
  })
  async delete(@Req() request: FastifyRequest) {
    const { session_id: id } = path(sessionPath, request);
    await deleteSession(this, request.actor.tenantId, id, metadataOf(request));
    return { message: `Session ${id} deleted` };
  }

  private async change(request: FastifyRequest, id: string, changes: SessionChanges): Promise<string> {
    const { tenantId } = request.actor;
    await patchSession(this, tenantId, id, changes, metadataOf(request));
    return found(await findPlainSession(this.pool, tenantId, id, changes), 'Session ID', id);
  }
}

/** Given members as an event holds them: times as ISO text, `extra` as the JSON text that was sent. */
function changesIn(
  sent: OpaqueBody,
  given: Omit<Infer<typeof patchBody>, 'name'> & { readonly name?: string },
): SessionChanges {
  const { name, description, default_dataset_id, trace_tier } = given;
  return {
    name,
    description,
    end_time: iso(given.end_time),
    default_dataset_id,
    extra: sent.members().get('extra'),
    trace_tier,
  };
}
