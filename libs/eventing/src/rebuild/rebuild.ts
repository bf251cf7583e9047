import { setTimeout as delay } from 'node:timers/promises';
import { connect, LOCKS, transaction } from '@fairlead/postgres';
import { type Client, Pool, type PoolClient } from 'pg';
import type { Recorded } from '../core/event';
import type { EventStore } from '../core/event-store';
import type { Projection } from '../followers/projection';
import { ParkedSubjects } from '../followers/parked-subjects';
import { faultOf } from '../core/faults';
import { SetAside, type Waiting } from '../followers/set-aside';

/** Tables that can be made again from the log, and the projections that fill them. */
export interface ReadModel {
  readonly name: string;
  readonly tables: readonly string[];
  /** Tables that are made again but not compared, because followers note their own work in them. */
  readonly notes?: readonly string[];
  /** Returns new projections that have handled no event. They write in transactions of `pool`. */
  readonly projections: (pool: Pool) => readonly Projection[];
}

export interface RebuildProgress {
  readonly projection: string;
  readonly position: bigint;
  readonly until: bigint;
  readonly events: number;
}

/** A row that differs between the live table and the rebuilt one, or that only one of them has. */
interface Difference {
  readonly table: string;
  readonly key: string;
  readonly kind: 'missing' | 'unexpected' | 'different';
}

/** A stream of which the events from a version on could not be applied. */
interface LeftOut {
  readonly projection: string;
  readonly stream: string;
  readonly version: number;
  readonly reason: string;
}

/** A read model cannot be rebuilt now. The message is one line for the operator. */
export class RebuildProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RebuildProblem';
  }
}

/** When the copy is at most this many events behind, the live followers wait while it handles the rest. */
const NEAR = 1000n;
const DIFFERENCES_TOLD = 20;
const LOCK_MS = 5000;
const ATTEMPTS = 5;
const PAUSE_MS = 200;
/** Time after which the live followers retry the streams that the copy left out (ms). */
const RETRY_MS = 1000;
/** SQLSTATEs of a lock timeout and of a deadlock. */
const WAITED = new Set(['55P03', '40P01']);

/**
 * A copy of a read model in a schema of its own, filled from the first event on while the service runs. When it has
 * reached the position of the live tables, it is compared with them or replaces them.
 */
export class Rebuild {
  private readonly schema: string;
  private readonly shadow: Pool;
  private readonly tables: readonly string[];
  private readonly projections: readonly Projection[];
  private readonly reached = new Map<string, { position: bigint; events: number }>();
  private readonly left = new Map<string, LeftBehind>();
  /** The connection that holds the lock on the schema. The lock ends with the connection. */
  private owner: Client | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly live: Pool,
    private readonly url: string,
    private readonly model: ReadModel,
    private readonly progress: (progress: RebuildProgress) => void = () => undefined,
    private readonly signal?: AbortSignal,
  ) {
    this.schema = `rebuild_${model.name.replaceAll(/\W/g, '_')}`;
    const options = `-c search_path=${this.schema},public -c statement_timeout=0 -c synchronous_commit=off`;
    this.shadow = new Pool({ connectionString: url, max: 4, options, application_name: 'fairlead rebuild' });
    // A broken connection is told by the query that meets it.
    this.shadow.on('error', () => undefined);
    this.projections = model.projections(this.shadow);
    this.tables = [...model.tables, ...(model.notes ?? [])];
  }

  /**
   * Fills the copy with everything up to now.
   * @throws RebuildProblem when another rebuild of the same read model has not ended; the signal's reason.
   */
  async fill(): Promise<void> {
    this.signal?.throwIfAborted();
    await this.own();
    await this.createTables();
    await this.reach(await this.store.head());
    for (const table of this.tables) await this.shadow.query(`analyze ${this.schema}.${table}`);
  }

  /** Fills the copy with everything up to a position: later projections find the rows of earlier ones. */
  async reach(position: bigint): Promise<void> {
    for (const projection of this.projections) await this.catchUp(projection, position);
  }

  get followers(): readonly string[] {
    return this.projections.map(({ name }) => name);
  }

  /** Returns the rows that differ between the live tables and the copy, at most 20 of each table. */
  async compare(): Promise<{ rows: number; differences: Difference[]; counts: Record<string, number> }> {
    const client = await this.live.connect();
    try {
      await this.pausingLive(async () => {
        await client.query('begin isolation level repeatable read read only; set local statement_timeout = 0');
        // The first statement takes the snapshot, while both stand at the same event.
        await client.query('select 1');
      });
      let rows = 0;
      const differences: Difference[] = [];
      const counts: Record<string, number> = {};
      for (const table of this.model.tables) {
        const found = await this.compareTable(client, table);
        rows += found.rows;
        counts[table] = found.total;
        differences.push(...found.differences);
      }
      return { rows, differences, counts };
    } finally {
      await client.query('rollback').catch(() => undefined);
      client.release();
    }
  }

  leftOut(): LeftOut[] {
    return [...this.left].flatMap(([projection, { streams }]) =>
      [...streams.values()].map(({ first: { stream, version }, reason }) => ({ projection, stream, version, reason })),
    );
  }

  /**
   * Replaces the live tables by the copy. Requests wait for a moment; none fails. The streams that the copy left out
   * are set aside from then on, and no others.
   */
  async swap(): Promise<void> {
    await this.pausingLive((tx) => this.exchange(tx));
  }

  /** As `swap`, in a transaction of the caller. No live follower may run. */
  async exchange(tx: PoolClient): Promise<void> {
    const names = this.tables.map((table) => `public.${table}`).join(', ');
    await this.parkLeftOut(tx);
    // Whoever kept pages of the view reads them anew.
    await tx.query('update checkpoints set name = name where name = any($1)', [this.followers]);
    await tx.query(`drop table ${names}`);
    for (const table of this.tables) await tx.query(`alter table ${this.schema}.${table} set schema public`);
    // Statistics over several columns do not move with their table.
    const { rows } = await tx.query<{ name: string }>(
      'select stxname as name from pg_statistic_ext where stxnamespace = $1::regnamespace',
      [this.schema],
    );
    for (const { name } of rows) await tx.query(`alter statistics ${this.schema}.${name} set schema public`);
  }

  private async parkLeftOut(tx: PoolClient): Promise<void> {
    const parked = new ParkedSubjects(this.live);
    await tx.query('delete from parked_subjects where consumer = any($1)', [this.projections.map(({ name }) => name)]);
    for (const [projection, { streams }] of this.left) {
      for (const { first, last, reason } of streams.values()) {
        await parked.park(projection, first, reason, RETRY_MS, tx);
        await parked.withoutWaiting(projection, [last], tx);
      }
    }
  }

  async close(): Promise<void> {
    await this.shadow.end();
    if (!this.owner) return;
    await this.live.query(`drop schema if exists ${this.schema} cascade`);
    await this.owner.end();
  }

  /** Takes the lock on the schema, so that two rebuilds do not share it. */
  private async own(): Promise<void> {
    const owner = await connect(this.url);
    const { rows } = await owner.query<{ free: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as free', [
      LOCKS.rebuild,
      this.schema,
    ]);
    if (rows[0]!.free) {
      this.owner = owner;
      return;
    }
    await owner.end();
    throw new RebuildProblem(
      `${this.model.name} is being made again or compared by another process: wait until that has ended.`,
    );
  }

  /** Creates tables like the live ones; indexes, constraints and settings have the same names. */
  private async createTables(): Promise<void> {
    const { schema, live } = this;
    await live.query(`drop schema if exists ${schema} cascade`);
    await live.query(`create schema ${schema}`);
    for (const table of this.tables) {
      await live.query(`create table ${schema}.${table} (like public.${table} including all excluding indexes)`);
      const { rows } = await live.query<{ settings: string | null }>(
        `select array_to_string(reloptions, ', ') as settings from pg_class where oid = 'public.${table}'::regclass`,
      );
      if (rows[0]?.settings) await live.query(`alter table ${schema}.${table} set (${rows[0].settings})`);
    }
    // Keys before what refers to them. Names that are not qualified mean the copies: they come first on the path.
    for (const types of ['pu', 'f']) {
      const { rows } = await live.query<{ table: string; name: string; definition: string }>(
        `select relname as table, conname as name, pg_get_constraintdef(k.oid) as definition
         from pg_constraint k join pg_class t on t.oid = conrelid join pg_namespace n on n.oid = relnamespace
         where nspname = 'public' and relname = any($1) and strpos($2, contype::text) > 0`,
        [this.tables, types],
      );
      for (const { table, name, definition } of rows) {
        await this.shadow.query(`alter table ${schema}.${table} add constraint "${name}" ${definition}`);
      }
    }
    const { rows: indexes } = await live.query<{ definition: string }>(
      `select pg_get_indexdef(indexrelid) as definition
       from pg_index i join pg_class t on t.oid = indrelid join pg_namespace n on n.oid = relnamespace
       where nspname = 'public' and relname = any($1)
         and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))`,
      [this.tables],
    );
    for (const { definition } of indexes) await live.query(definition.replace(' ON public.', ` ON ${schema}.`));
  }

  /** Applies to a projection all events up to and including a position that it has not handled. */
  private async catchUp(projection: Projection, until: bigint): Promise<void> {
    const { name, categories, types, handle } = projection;
    let { position, events } = this.reached.get(name) ?? { position: 0n, events: 0 };
    if (position >= until) return;
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, ...(this.signal ? [this.signal] : [])]);
    for await (const batch of this.store.subscribe(position, signal, { categories, types })) {
      const news = batch.events.filter((event) => event.position <= until);
      if (news.length > 0) await this.handle(name, news, handle);
      events += news.length;
      position = batch.position < until ? batch.position : until;
      this.reached.set(name, { position, events });
      this.progress({ projection: name, position, until, events });
      if (position >= until) break;
    }
    ending.abort();
    this.signal?.throwIfAborted();
  }

  private async handle(name: string, events: readonly Recorded[], handle: Projection['handle']): Promise<void> {
    const left = this.left.get(name) ?? new LeftBehind();
    this.left.set(name, left);
    const news = await left.withoutWaiting(events);
    if (news.length === 0) return;
    // Whatever happens again when it is tried once more is an event's fault; when nothing can be handled, only if it
    // goes on to happen.
    const aside = new SetAside(left, ATTEMPTS, 1);
    for (let attempt = 1; ; attempt++) {
      try {
        await transaction(this.shadow, (tx) => handle(news, tx));
        return;
      } catch (error) {
        if (!aside.mayBlame(error)) throw error;
      }
      try {
        await transaction(this.shadow, (tx) => aside.handle(news, tx, handle));
        return;
      } catch (error) {
        if (faultOf(error) === 'surroundings' || attempt > ATTEMPTS) throw error;
        await delay(attempt * PAUSE_MS);
      }
    }
  }

  private async pausingLive(work: (tx: PoolClient) => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const head = await this.store.head();
      const isFar = this.projections.some(({ name }) => {
        const { position = 0n } = this.reached.get(name) ?? {};
        return head - position > NEAR * this.store.stride || position === 0n;
      });
      if (isFar) await this.reach(head);
      // A lock that was lost with its connection may be another's by now.
      await this.owner!.query('select 1');
      try {
        await transaction(this.live, (tx) => this.whileLocked(tx, work));
        return;
      } catch (error) {
        // The live follower, or a long query, held what is needed: it gets on first.
        const waited = WAITED.has((error as { code?: string }).code ?? '') || error instanceof AheadOfLive;
        if (!waited || attempt === ATTEMPTS) throw error;
        await delay(attempt * PAUSE_MS);
      }
    }
  }

  private async whileLocked(tx: PoolClient, work: (tx: PoolClient) => Promise<void>): Promise<void> {
    await tx.query(`set local statement_timeout = 0; set local lock_timeout = ${LOCK_MS}`);
    const names = this.projections.map(({ name }) => name);
    const { rows } = await tx.query<{ name: string; position: string }>(
      'select name, "position" from checkpoints where name = any($1) order by name for update',
      [names],
    );
    for (const projection of this.projections) {
      const live = BigInt(rows.find(({ name }) => name === projection.name)?.position ?? 0);
      const { position = 0n } = this.reached.get(projection.name) ?? {};
      // A checkpoint is not moved for each event that its follower has no use for.
      const next = position > live ? await this.nextAfter(projection, live) : undefined;
      if (next !== undefined && next <= position) throw new AheadOfLive();
      await this.catchUp(projection, live);
    }
    await work(tx);
  }

  /**
   * Returns the position of the first event after `position` that a projection handles; undefined when there is none.
   */
  private async nextAfter({ categories, types }: Projection, position: bigint): Promise<bigint | undefined> {
    const head = await this.store.head();
    const ending = new AbortController();
    try {
      if (position >= head) return undefined;
      for await (const batch of this.store.subscribe(position, ending.signal, { categories, types })) {
        if (batch.events[0]) return batch.events[0].position;
        if (batch.position >= head) return undefined;
      }
      return undefined;
    } finally {
      ending.abort();
    }
  }

  private async compareTable(client: PoolClient, table: string) {
    const { rows: keys } = await client.query<{ column: string }>(
      `select quote_ident(attname) as column from pg_index i join pg_attribute a on attrelid = indrelid and attnum = any(indkey)
       where indrelid = 'public.${table}'::regclass and indisprimary order by array_position(indkey, attnum)`,
    );
    const key = `json_build_object(${keys.map(({ column }) => `'${column}', t.${column}`).join(', ')})::text`;
    const side = (schema: string) => `(select ${key} as key, md5(t::text) as hash from ${schema}.${table} t)`;
    const { rows } = await client.query<{ key: string; kind: Difference['kind']; total: string }>(
      `select key, case when live.hash is null then 'missing' when copy.hash is null then 'unexpected'
         else 'different' end as kind, count(*) over () as total
       from ${side('public')} live full join ${side(this.schema)} copy using (key)
       where live.hash is distinct from copy.hash order by key limit ${DIFFERENCES_TOLD}`,
    );
    const { rows: counted } = await client.query<{ count: string }>(`select count(*) from public.${table}`);
    return {
      rows: Number(counted[0]!.count),
      total: Number(rows[0]?.total ?? 0),
      differences: rows.map(({ key, kind }) => ({ table, key, kind })),
    };
  }
}

class LeftBehind implements Waiting {
  readonly streams = new Map<string, { readonly first: Recorded; last: Recorded; readonly reason: string }>();

  withoutWaiting(events: readonly Recorded[]): Promise<Recorded[]> {
    const others = events.filter((event) => {
      const waiting = this.streams.get(event.stream);
      if (waiting && event.version > waiting.last.version) waiting.last = event;
      return !waiting;
    });
    return Promise.resolve(others);
  }

  park(event: Recorded, reason: string): Promise<void> {
    this.streams.set(event.stream, { first: event, last: event, reason });
    return Promise.resolve();
  }
}

/** The live follower has not reached the position of the copy yet. */
class AheadOfLive extends Error {}
