import { outsideRequest, SharedReads } from '@fairlead/postgres';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** A part of an answer, as it is sent. */
interface Page {
  readonly body: Uint8Array;
}

interface Kept {
  readonly version: string | undefined;
  readonly page: Page;
}

/** The pages of one workspace; those that were used last are at the end. */
interface Pages {
  readonly kept: Map<string, Kept>;
  bytes: number;
}

/** Largest number of bytes that are kept of one workspace, and of all workspaces together. */
const MOST_BYTES = { workspace: 16 * 1024 * 1024, process: 64 * 1024 * 1024 };

/**
 * Keeps pages that were read from a view until the view changes. The version of a view is that of the row of its
 * checkpoint, which every transaction that changes its tables writes: batches, retries and rebuilds. A request comes
 * here after it has waited for the view, so that a page of the current version contains what its workspace has written.
 */
@Injectable()
export class KeptPages {
  private readonly reads = new SharedReads();
  private readonly workspaces = new Map<string, Pages>();
  private bytes = 0;

  constructor(
    private readonly pool: Pool,
    private readonly most = MOST_BYTES,
  ) {}

  /**
   * Returns what `read` returns, which is called only when there is no page of the current version. `key` identifies
   * everything that the page depends on besides the workspace and the view.
   */
  async get<P extends Page>(workspace: string, view: string, key: string, read: () => Promise<P>): Promise<P> {
    const version = await this.reads.run(view, () => outsideRequest(() => this.versionOf(view)));
    const name = `${view} ${key}`;
    const kept = this.workspaces.get(workspace)?.kept.get(name);
    const isCurrent = kept !== undefined && kept.version === version;
    const page = isCurrent ? (kept.page as P) : await this.reads.run(`${workspace} ${version} ${name}`, read);
    this.keep(workspace, name, { version, page });
    return page;
  }

  private async versionOf(view: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ version: string }>({
      name: 'version of a view',
      text: 'select xmin::text as version from checkpoints where name = $1',
      values: [view],
    });
    return rows[0]?.version;
  }

  /** Keeps a page as the one that was used last. */
  private keep(workspace: string, name: string, kept: Kept): void {
    const pages = this.workspaces.get(workspace) ?? { kept: new Map<string, Kept>(), bytes: 0 };
    this.workspaces.delete(workspace);
    this.workspaces.set(workspace, pages);
    this.forget(pages, name);
    pages.kept.set(name, kept);
    this.count(pages, kept.page.body.length);
    while (pages.bytes > this.most.workspace) this.forget(pages, pages.kept.keys().next().value!);
    while (this.bytes > this.most.process) {
      const [unused, others] = this.workspaces.entries().next().value!;
      this.workspaces.delete(unused);
      this.bytes -= others.bytes;
    }
  }

  private forget(pages: Pages, name: string): void {
    const kept = pages.kept.get(name);
    if (!kept) return;
    pages.kept.delete(name);
    this.count(pages, -kept.page.body.length);
  }

  private count(pages: Pages, bytes: number): void {
    pages.bytes += bytes;
    this.bytes += bytes;
  }
}
