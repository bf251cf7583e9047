import { outsideRequest, SharedReads } from '@fairlead/postgres';
import { Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

interface Page {
  readonly body: Uint8Array;
}

interface Kept {
  readonly version: string | undefined;
  readonly page: Page;
}

/** Largest number of bytes that are kept of one workspace, and of all workspaces together. */
const MOST_BYTES = { workspace: 16 * 1024 * 1024, process: 64 * 1024 * 1024 };
const MOST_PAGES = 500;
const MOST_WORKSPACES = 1000;

/**
 * Keeps pages that were read from a view until the view changes. The version of a view is that of the row of its
 * checkpoint, which every transaction that changes its tables writes: batches, retries and rebuilds. The position is a
 * part of it, because a database that loses commits in a crash uses their transaction ids again. A request comes here
 * after it has waited for the view, so that a page of the current version contains what its workspace has written.
 */
@Injectable()
export class KeptPages {
  private readonly reads = new SharedReads();
  private readonly workspaces: Recent<Recent<Kept>>;

  constructor(
    private readonly pool: Pool,
    private readonly most = MOST_BYTES,
  ) {
    this.workspaces = new Recent(MOST_WORKSPACES, { bytes: most.process, of: (pages) => 1 + pages.calculatedSize });
  }

  /**
   * Returns what `read` returns, which is called only when there is no page of the current version. `key` identifies
   * everything that the page depends on besides the workspace and the view.
   */
  async get<P extends Page>(workspace: string, view: string, key: string, read: () => Promise<P>): Promise<P> {
    const version = await this.reads.run(view, () => outsideRequest(() => this.versionOf(view)));
    const name = `${view} ${key}`;
    const kept = this.workspaces.get(workspace)?.get(name);
    if (kept !== undefined && kept.version === version) return kept.page as P;
    const page = await this.reads.run(`${workspace} ${version} ${name}`, read);
    this.keep(workspace, name, { version, page });
    return page;
  }

  private async versionOf(view: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ version: string }>({
      name: 'version of a view',
      text: `select xmin::text || ' ' || "position" as version from checkpoints where name = $1`,
      values: [view],
    });
    return rows[0]?.version;
  }

  private keep(workspace: string, name: string, kept: Kept): void {
    const bytes = this.most.workspace;
    const pages =
      this.workspaces.get(workspace) ?? new Recent(MOST_PAGES, { bytes, of: ({ page }) => 1 + page.body.length });
    pages.set(name, kept);
    // What is set anew is weighed anew.
    this.workspaces.delete(workspace);
    this.workspaces.set(workspace, pages);
  }
}
