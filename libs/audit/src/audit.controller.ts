import { LogSigner } from '@fairlead/eventing';
import { Access, Area, Describe, query } from '@fairlead/api';
import {
  BadRequest,
  canonicalUuid,
  csv,
  datetime,
  Forbidden,
  int,
  literal,
  object,
  optional,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { apiActivity } from './activity';
import { auditLog, keySet } from './audit.answers.schema';
import { auditView } from './audit.view';
import { AuditQueries, type Entry, type Place } from './audit.queries';

const MOST_OPERATIONS = 100;

const auditQuery = object({
  limit: optional(int({ ge: 1, le: 100 }), 10),
  cursor: optional(str()),
  workspace_id: optional(uuid()),
  start_time: optional(datetime()),
  end_time: optional(datetime()),
  operations: optional(csv(str(), { max: MOST_OPERATIONS })),
  actor: optional(uuid()),
  resource_id: optional(str()),
  request_id: optional(str()),
  outcome: optional(literal(['success', 'refused'])),
});

/** Who did what in a workspace, and who tried to. */
@Area('Audit')
@Controller()
export class AuditController {
  constructor(
    private readonly queries: AuditQueries,
    private readonly signer: LogSigner,
  ) {}

  /** Newest first. `cursor` is that of the page before; null at the end. */
  @Get('/api/v1/audit-logs')
  @Access('admin', { views: [auditView.name] })
  @Describe({
    summary: 'List who did what',
    description:
      'The newest first, refused attempts included, as OCSF API Activity. Pages follow `cursor`; it is null on the last one.',
    query: auditQuery,
    answers: { 200: auditLog },
  })
  async list(@Req() request: FastifyRequest) {
    const { limit, cursor, workspace_id, start_time, end_time, ...filter } = query(auditQuery, request);
    const { tenantId, organizationId, operator: ofNobody } = request.actor;
    if (workspace_id !== undefined && workspace_id !== tenantId) throw new Forbidden();
    const wanted = { ...filter, start_time: start_time?.iso, end_time: end_time?.iso, ofNobody };
    const found = await this.queries.list(tenantId, wanted, limit, cursor ? placeOf(cursor) : undefined);
    const page = found.slice(0, limit);
    return {
      items: page.map((entry) => apiActivity(entry, tenantId, organizationId)),
      cursor: found.length > limit ? cursorOf(page.at(-1)!) : null,
    };
  }

  /** The public keys that exported histories and the seals of the log are signed with (RFC 7517). */
  @Get('/v1/audit/keys')
  @Access('public')
  @Describe({ summary: 'Get the public keys that the log is signed with', answers: { 200: keySet } })
  async keys() {
    return { keys: await this.signer.publicKeys() };
  }
}

function cursorOf({ time, id }: Entry): string {
  return Buffer.from(`${time.toISOString()} ${id}`).toString('base64url');
}

function placeOf(cursor: string): Place {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  if (Number.isNaN(Date.parse(time)) || canonicalUuid(id) === undefined) {
    throw new BadRequest('The cursor is not one that this list has given out.');
  }
  return { time: new Date(time).toISOString(), id };
}
