import { actorNames, EventStore, LogSigner } from '@fairlead/eventing';
import { type Actor, Answers, Area, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { BadRequest, canonicalUuid, Forbidden, type Infer, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { apiActivity } from './activity';
import { auditChoices, auditLog, auditQuery, keySet } from './audit.schema';
import { auditView } from './audit.projection';
import { AuditQueries, type Entry, type Place } from './audit.queries';
import { WorkspaceExport } from './workspace-export.service';

/** Routes of the audit log: what was done in a workspace, and what was refused. */
@Area('Audit')
@Controller()
export class AuditController {
  constructor(
    private readonly queries: AuditQueries,
    private readonly store: EventStore,
    private readonly signer: LogSigner,
    private readonly exports: WorkspaceExport,
  ) {}

  /** Newest first. `cursor` is that of the page before; null at the end. */
  @Get('/api/v1/audit-logs')
  @Scope('admin', { views: [auditView.name] })
  @Describe({
    summary: 'List who did what',
    description:
      'The newest first, refused attempts included, as OCSF API Activity. Pages follow `cursor`; it is null on the last one.',
  })
  @Answers({ 200: auditLog })
  async list(
    @Context() context: CommandContext,
    @Query(auditQuery) { limit, cursor, workspace_id, start_time, end_time, ...filter }: Infer<typeof auditQuery>,
  ) {
    const { tenantId, operator: ofNobody } = context.actor;
    if (workspace_id !== undefined && workspace_id !== tenantId) throw new Forbidden();
    const wanted = { ...filter, start_time: start_time?.iso, end_time: end_time?.iso, ofNobody };
    const found = await this.queries.list(tenantId, wanted, limit, cursor ? placeOf(cursor) : undefined);
    const page = found.slice(0, limit);
    const next = found.length > limit ? cursorOf(page.at(-1)!) : null;
    return { items: await this.shown(context.actor, page), cursor: next };
  }

  /** The values by which the log can be filtered. */
  @Get('/v1/audit/choices')
  @Scope('admin', { views: [auditView.name], strict: true })
  @Describe({
    summary: 'List by what the audit log can be filtered',
    description: 'Operations, actors and resources of the newest 10,000 entries.',
  })
  @Answers({ 200: auditChoices })
  async choices(@Context() { tenantId }: CommandContext) {
    const { operations, actors, resources } = await this.queries.choices(tenantId);
    const names = await actorNames(
      this.store,
      actors.map(({ id }) => id),
    );
    return { operations, actors: actors.map((actor) => ({ ...actor, name: names.get(actor.id) ?? null })), resources };
  }

  /** The public keys that exported histories and the seals of the log are signed with (RFC 7517). */
  @Get('/v1/audit/keys')
  @Scope('public', { strict: true })
  @Describe({ summary: 'Get the public keys that the log is signed with' })
  @Answers({ 200: keySet })
  async keys() {
    return { keys: await this.signer.publicKeys() };
  }

  /** Everything of the workspace as JSON lines, with a signed last line: to be kept, and verified without this service. */
  @Get('/v1/audit/export')
  @Scope('admin', { strict: true })
  @Describe({
    summary: 'Export everything that a workspace has in the log',
    description:
      'Its events as JSON lines, in the order of the log, with the seals of the log, the last line signed: to be kept, and verified without this service. An export without its last line is not complete. It reads the log of the installation once; a workspace has one export at a time.',
    gives: ['Content-Disposition'],
  })
  @Answers({ 200: { content: { 'application/jsonl': str() } } })
  async export(@Context() { tenantId }: CommandContext, @Res({ passthrough: true }) reply: FastifyReply) {
    const answer = await this.exports.open(tenantId);
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="workspace-${tenantId}.jsonl"`);
    return answer;
  }

  private async shown({ tenantId, organizationId }: Actor, page: readonly Entry[]) {
    const actors = page.map(({ actor }) => actor);
    const names = await actorNames(this.store, actors);
    return page.map((entry) => apiActivity(entry, names.get(entry.actor) ?? null, tenantId, organizationId));
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
