import { randomUUID } from 'node:crypto';
import type { CommandContext } from '@fairlead/api';
import { EventStore, Followers, handle, newId, Room, streamName, Vault } from '@fairlead/eventing';
import { BadRequest, HttpProblem, NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { v5 as idFrom } from 'uuid';
import { EXPERIMENTS_VIEW, found, placeOfRun } from '@fairlead/runs';
import { beginShare, endShare, type Share, type ShareEvent, type ShareLink, shareModel } from './share';
import { DIGESTS, type ListedLink, sealsOf, ShareQueries } from './share.queries';

/** Time for which sharing, and its end, wait until they have taken effect (ms). */
const VIEW_MS = 10_000;
const MOST_SHARES = 10_000;
const MOST_LINKS = 1000;

@Injectable()
export class ShareCommands {
  private readonly shareRoom = new Room(MOST_SHARES);
  private readonly linkRoom = new Room(MOST_LINKS);

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly pool: Pool,
    private readonly vault: Vault,
    private readonly queries: ShareQueries,
  ) {}

  /**
   * Shares a run or a dataset until somebody ends that; returns false when there is no such thing. The token of what is
   * shared already stays the same. @throws BadRequest when the workspace shares too much
   */
  async share(context: CommandContext, kind: 'run' | 'dataset', id: string): Promise<boolean> {
    const { tenantId } = context;
    const subject = await this.queries.subject(tenantId, kind, id);
    if (!subject) return false;
    const { session: session_id, created } = subject;
    const share = async () => {
      const [shareId, token] = [lastingId(tenantId, kind, id), randomUUID()];
      const sealed = await this.vault.seal(tenantId, sealsOf(tenantId), shareId, token);
      const data = { id, session_id, token: sealed, digest: await this.vault.digest(DIGESTS.lasting, token) };
      const begun = { type: kind === 'run' ? 'RunShared' : 'DatasetShared', data } as const;
      await this.change(context, streamName('share', shareId), beginShare(begun, created));
      return true;
    };
    const isShared = (await this.queries.tokens(tenantId, kind, [id])).has(id);
    if (isShared) return share();
    const full = `A workspace shares ${MOST_SHARES.toLocaleString('en')} runs and datasets at most.`;
    return this.inRoom(this.shareRoom, tenantId, 'shares where tenant_id = $1', full, share);
  }

  /** Ends the sharing of a run or a dataset: its token gives nothing when this resolves. */
  async unshare(context: CommandContext, kind: 'run' | 'dataset', id: string): Promise<void> {
    await this.change(context, streamName('share', lastingId(context.tenantId, kind, id)), endShare);
  }

  /**
   * Makes a link; the token is answered here only.
   * @throws NotFound for what the workspace does not have, BadRequest for what cannot be compared or too many links
   */
  async createLink(
    context: CommandContext,
    asked: Omit<ShareLink, 'id' | 'digest'>,
  ): Promise<ListedLink & { token: string }> {
    const { tenantId } = context;
    const experiments =
      asked.run_id === null ? await this.compared(tenantId, asked) : [await this.sessionOf(tenantId, asked.run_id)];
    const full = `A workspace has ${MOST_LINKS.toLocaleString('en')} links at most.`;
    const counted = 'share_links where tenant_id = $1 and expires_at > now()';
    return this.inRoom(this.linkRoom, tenantId, counted, full, async () => {
      const [id, token] = [newId(), randomUUID()];
      const data = { ...asked, id, experiments, digest: await this.vault.digest(DIGESTS.ending, token) };
      const begun = { type: 'ShareLinkCreated', data } as const;
      await this.change(context, streamName('shareLink', id), beginShare(begun, new Date().toISOString()));
      return { ...(await this.queries.link(tenantId, id)), token };
    });
  }

  /** Ends a link: its token gives nothing when this resolves. @throws NotFound */
  async deleteLink(context: CommandContext, id: string): Promise<void> {
    await this.queries.link(context.tenantId, id);
    await this.change(context, streamName('shareLink', id), endShare);
  }

  /** Resolves when the change has taken effect. @throws HttpProblem 503 when that takes too long */
  private async change(
    { metadata, command }: CommandContext,
    stream: string,
    decide: (state: Share | null) => ShareEvent[],
  ): Promise<void> {
    const { position } = await handle(this.store, shareModel, stream, decide, metadata, undefined, command);
    if (await this.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS)) return;
    throw new HttpProblem(503, 'The change is stored and has not taken effect yet, try again.', {
      headers: { 'retry-after': '1' },
    });
  }

  /** @throws BadRequest when the workspace has no room for one more of what is counted */
  private async inRoom<T>(room: Room, tenantId: string, counted: string, full: string, add: () => Promise<T>) {
    const text = `select count(*)::int as count from ${counted}`;
    const count = async () => (await this.pool.query<{ count: number }>(text, [tenantId])).rows[0]!.count;
    const leave = await room.take(tenantId, 1, count);
    if (!leave) throw new BadRequest(full);
    try {
      return await add();
    } finally {
      leave();
    }
  }

  private async compared(
    tenantId: string,
    { dataset_id, experiments }: Pick<ShareLink, 'dataset_id' | 'experiments'>,
  ): Promise<readonly string[]> {
    const ids = [...new Set(experiments)];
    const { rows } = await this.pool.query<{ id: string; dataset: string | null }>(
      'select id, reference_dataset_id as dataset from sessions where tenant_id = $1 and id = any($2::uuid[])',
      [tenantId, ids],
    );
    for (const id of ids) {
      const found = rows.find((row) => row.id === id);
      if (!found) throw new NotFound(`Session ID ${id} not found.`);
      if (found.dataset !== dataset_id) {
        throw new BadRequest(`Session ${id} is no experiment on dataset ${dataset_id}.`);
      }
    }
    return ids;
  }

  private async sessionOf(tenantId: string, run: string): Promise<string> {
    return found(await placeOfRun(this.pool, tenantId, run), 'Run ID', run).session_id;
  }
}

function lastingId(tenantId: string, kind: 'run' | 'dataset', id: string): string {
  return idFrom(`${kind}/${id}`, tenantId);
}
