import { Recent } from '@fairlead/schema';

interface Versioned {
  readonly id: string;
  readonly version: number;
}

interface Kept<T> {
  readonly row: T | undefined;
  readonly until: number;
}

/** Rows that are kept of each kind. */
export const KEPT = 10_000;
const KEPT_MS = 1000;

/**
 * Rows by id, at most a second old. At most one query runs at a time, for all ids asked for meanwhile, so a flood of
 * unknown ids costs one query at a time and bounded memory.
 */
export class Lookup<T extends Versioned> {
  private readonly found = new Recent<Kept<T>>(KEPT);
  private readonly missing = new Recent<Kept<T>>(KEPT);
  private readonly written = new Recent<T>(KEPT);
  private wanted = new Set<string>();
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<Map<string, T>> | undefined;

  constructor(
    private readonly load: (ids: string[]) => Promise<T[]>,
    /** Resolves when the table is up to date; awaited before a row counts as missing. */
    private readonly settled?: () => Promise<void>,
  ) {}

  /** Returns the row of an id; undefined when there is none. */
  async get(id: string): Promise<T | undefined> {
    const kept = this.found.get(id) ?? this.missing.get(id);
    if (kept && kept.until > Date.now()) return kept.row;
    this.wanted.add(id);
    this.next ??= this.running.then(() => this.loadWanted());
    return (await this.next).get(id);
  }

  /** Makes a row known here at once; an older version that is still in the database does not come back. */
  put(row: T): void {
    this.written.set(row.id, row);
    this.remember(row.id, row);
  }

  /** Reads every row anew; what `put` made known here stays so. */
  forget(): void {
    this.found.clear();
  }

  private async loadWanted(): Promise<Map<string, T>> {
    const ids = [...this.wanted];
    const loading = this.next!;
    this.wanted = new Set();
    this.running = loading.catch(() => undefined);
    this.next = undefined;
    const rows = new Map((await this.load(ids)).map((row) => [row.id, row]));
    const missing = ids.filter((id) => !rows.has(id) && !this.written.has(id));
    if (this.settled && missing.length > 0) {
      await this.settled();
      for (const row of await this.load(missing)) rows.set(row.id, row);
    }
    for (const id of ids) {
      const newest = newer(rows.get(id), this.written.get(id));
      if (newest) rows.set(id, newest);
      this.remember(id, newest);
    }
    return rows;
  }

  private remember(id: string, row: T | undefined): void {
    this.missing.delete(id);
    this.found.delete(id);
    (row ? this.found : this.missing).set(id, { row, until: Date.now() + KEPT_MS });
  }
}

function newer<T extends Versioned>(a: T | undefined, b: T | undefined): T | undefined {
  return a && b ? (a.version >= b.version ? a : b) : (a ?? b);
}
