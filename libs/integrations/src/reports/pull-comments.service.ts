import { createHash } from 'node:crypto';
import { withTimeLimit } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { CodeHost } from '../hosts/code-host';
import { CommitNotFound } from '../hosts/code-host.errors';
import { commentText, markerLine } from './comment-text';
import { type HeldComment, PullCommentsStore } from './pull-comments.store';
import { type Place, VerdictReportsStore } from './verdict-reports.store';

/** Another process writes the comment at this moment. */
export class CommentHeld extends Error {}

/** Time for which a comment is written (ms): less than it is held. */
const PATIENCE_MS = 45_000;

/** A repository at its host. */
interface At {
  readonly host: CodeHost;
  readonly path: readonly string[];
}

/** Keeps one comment on each pull request, whose text is replaced. */
@Injectable()
export class PullComments {
  constructor(
    private readonly comments: PullCommentsStore,
    private readonly reports: VerdictReportsStore,
  ) {}

  /**
   * Lets the comment on a pull request say what the reports of its revisions say.
   * @throws CommentHeld, CommitNotFound, CodeHostFailed, CodeHostTooSlow
   */
  async write(at: At, place: Place, pull: number, signal: AbortSignal): Promise<void> {
    const held = await this.comments.hold(place, pull);
    if (!held) throw new CommentHeld();
    try {
      await withTimeLimit(PATIENCE_MS, [signal], async (late) => {
        await this.replace(at, held.posting > 0 ? await this.find(at, held, late) : held, late);
      });
    } finally {
      await this.comments.release(held);
    }
  }

  private async replace(at: At, held: HeldComment, signal: AbortSignal): Promise<void> {
    const text = commentText(held.marker, await this.reports.sections(held, held.pull));
    const hash = createHash('sha256').update(text).digest('hex');
    if (held.comment_id === null) await this.post(at, held, text, signal);
    else if (held.body_hash !== hash) {
      const { host, path } = at;
      try {
        await host.order(host.dialect.reporting.edit(path, held.pull, held.comment_id, text), signal);
      } catch (error) {
        if (!(error instanceof CommitNotFound)) throw error;
        return this.replace(at, await this.comments.renew(held), signal);
      }
    }
    await this.comments.wrote(held, hash);
  }

  private async post({ host, path }: At, held: HeldComment, text: string, signal: AbortSignal): Promise<void> {
    const { reporting } = host.dialect;
    await this.comments.begin(held);
    // After a failure nobody knows whether it is there, so that the next attempt looks for it.
    const { id } = await host.order(reporting.comment(path, held.pull, text), signal);
    if (await this.comments.posted(held, id)) return;
    await host.order(reporting.remove(path, held.pull, id), signal);
    throw new CommentHeld();
  }

  /** Looks for what was posted without its identifier having been stored, and removes all but one. */
  private async find({ host, path }: At, held: HeldComment, signal: AbortSignal): Promise<HeldComment> {
    const { reporting } = host.dialect;
    const { first, page } = reporting.comments(path, held.pull);
    const line = markerLine(held.marker);
    const ours = (await host.all(first, page, signal)).filter(({ body }) => body.trimStart().startsWith(line));
    // Whoever has copied the marker did so later.
    ours.sort((a, b) => Number(a.id) - Number(b.id));
    const kept = ours.find(({ id }) => id === held.comment_id) ?? ours[0];
    for (const { id, author } of ours) {
      if (id === kept?.id || author === null || author !== kept?.author) continue;
      await host.order(reporting.remove(path, held.pull, id), signal);
    }
    // A request that was cut off may still arrive: then the next look finds two.
    if (!kept) return { ...held, comment_id: null, body_hash: null };
    await this.comments.found(held, kept.id);
    return { ...held, comment_id: kept.id, body_hash: null };
  }
}
