import { NotFound } from '@fairlead/schema';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { type Caller, serviceCaller } from '../core/aggregate-commands';
import { Followers } from '../followers/followers';
import { endOf } from '../followers/stop';
import { ThrottledWarning } from '../followers/throttled-warning';

/** The parts of an installation that store things of a workspace. A removal is finished when each has none left. */
export const REMOVAL_PARTS = [
  'api_keys',
  'deployments',
  'experiments',
  'integrations',
  'oauth_providers',
  'webhooks',
] as const;
type RemovalPart = (typeof REMOVAL_PARTS)[number];

/** One kind of things that a workspace has. */
export interface Removal {
  /** The view by which `find` finds them. */
  readonly view: string;
  /** Returns the ids of some things that are to be removed, `limit` at most. */
  readonly find: (tenantId: string, limit: number) => Promise<readonly string[]>;
  /** Removes one of them, with a command that may be repeated. */
  readonly remove: (caller: Caller, id: string) => Promise<{ readonly position: bigint } | void>;
  /** Called when the view no longer shows those that `remove` was called with. */
  readonly removed?: () => void;
}

/** Removes some of what a part has beside its kinds of things. Returns how much it found: 0 when nothing is left. */
type Rest = (tenantId: string) => Promise<number>;

const AT_ONCE = 50;

const LOOK_MS = 1000;
const LEASE_SECONDS = 60;
const PAUSE_SECONDS = 10;
/** Pause between two steps of one part (ms). */
const AGAIN_MS = 200;
/** Times during which requests that began before a workspace was stopped may still store something. */
const LATE = { firstHour: '1 hour', lastDay: '1 day' };

interface Taken {
  readonly tenant: string;
  readonly part: RemovalPart;
}

/**
 * Removes workspaces part by part, each in the processes that registered it. The database says what is done, so that
 * another process goes on when one ends. A part without things is checked once an hour for a day, because a long upload
 * may have ended late.
 */
@Injectable()
export class WorkspaceRemovals implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Workspaces');
  private readonly warning = new ThrottledWarning((text) => this.logger.error(text));
  private readonly removers = new Map<RemovalPart, Rest>();
  private finish: ((tenantId: string) => Promise<void>) | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopping = false;
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    private readonly followers: Followers,
  ) {}

  /**
   * Registers a part: its kinds of things in the order in which they go, then what else it has of a workspace. What is
   * registered later for the same part goes first, because a library registers after those that it is made on.
   */
  register(part: RemovalPart, actor: string, kinds: readonly Removal[], rest: Rest = async () => 0): void {
    const below = this.removers.get(part);
    this.removers.set(part, async (tenant) => {
      const caller = serviceCaller({ tenant, actor });
      let found = 0;
      for (const kind of kinds) found += await this.removeSome(caller, kind);
      if (found === 0) found = await rest(tenant);
      return found > 0 || !below ? found : below(tenant);
    });
  }

  private async removeSome(caller: Caller, { view, find, remove, removed }: Removal): Promise<number> {
    const ids = await find(caller.tenantId, AT_ONCE);
    let newest = 0n;
    for (const id of ids) {
      const { position = 0n } = (await remove(caller, id).catch(unlessGone)) ?? {};
      if (position > newest) newest = position;
    }
    if (ids.length === 0) return 0;
    // Once for all: a view pauses between batches.
    await this.followers.passed(newest, [view]);
    removed?.();
    return ids.length;
  }

  /** Registers a function that is called when no part has anything left of a workspace. */
  onFinished(finish: (tenantId: string) => Promise<void>): void {
    this.finish = finish;
  }

  /** Returns the parts that still have something of a workspace that is being removed. */
  async left(tenantId: string): Promise<RemovalPart[]> {
    const { rows } = await this.pool.query<{ part: RemovalPart }>(
      'select part from workspace_removals where tenant_id = $1 and done_at is not null',
      [tenantId],
    );
    const done = new Set(rows.map(({ part }) => part));
    return REMOVAL_PARTS.filter((part) => !done.has(part));
  }

  onApplicationBootstrap(): void {
    this.working = this.run();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    this.wake();
    await endOf(this.working, this.logger, () => 'The removal of workspaces');
  }

  private wake: () => void = () => undefined;

  private async run(): Promise<void> {
    while (!this.stopping) {
      const worked = await this.step().catch((error: unknown) => {
        this.warning.failed(`Workspaces cannot be removed now: ${String(error)}`);
        return false;
      });
      if (worked) continue;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        this.timer = setTimeout(resolve, LOOK_MS);
      });
    }
  }

  /** Removes some things of one part of one workspace. Returns false when there was nothing to do. */
  private async step(): Promise<boolean> {
    const taken = await this.take();
    if (!taken) return this.finishOne();
    const { tenant, part } = taken;
    try {
      const found = await this.removers.get(part)!(tenant);
      await this.put(taken, found === 0);
      this.warning.worked();
      return true;
    } catch (error) {
      this.warning.failed(`The ${part} of workspace ${tenant} cannot be removed now: ${String(error)}`);
      // The lease goes on for a while, as a pause.
      await this.pool.query(
        `update workspace_removals set leased_until = now() + interval '${PAUSE_SECONDS} seconds'
         where tenant_id = $1 and part = $2`,
        [tenant, part],
      );
      return true;
    }
  }

  private async take(): Promise<Taken | undefined> {
    const { rows } = await this.pool.query<Taken>({
      name: 'take workspace removal',
      text: `insert into workspace_removals as r (tenant_id, part, leased_until)
        select tenant_id, part, now() + interval '${LEASE_SECONDS} seconds'
        from stopped_workspaces s cross join unnest($1::text[]) as parts (part)
        left join workspace_removals known using (tenant_id, part)
        where s.status in ('removing', 'removed') and (known.leased_until is null or known.leased_until < now())
          and (known.done_at is null or
            (known.done_at < now() - interval '${LATE.firstHour}' and s.since > now() - interval '${LATE.lastDay}'))
        order by known.done_at nulls first, known.leased_until nulls first, s.since, part limit 1
        on conflict (tenant_id, part) do update set leased_until = excluded.leased_until
          where r.leased_until is null or r.leased_until < now()
        returning tenant_id as tenant, part`,
      values: [[...this.removers.keys()]],
    });
    return rows[0];
  }

  private async put({ tenant, part }: Taken, done: boolean): Promise<void> {
    await this.pool.query(
      `update workspace_removals set leased_until = now() + interval '${AGAIN_MS} milliseconds', done_at = case when $3 then now() else done_at end
       where tenant_id = $1 and part = $2`,
      [tenant, part, done],
    );
  }

  private async finishOne(): Promise<boolean> {
    if (!this.finish) return false;
    const { rows } = await this.pool.query<{ tenant: string }>({
      name: 'finish workspace removal',
      text: `select tenant_id as tenant from stopped_workspaces s where status = 'removing' and (
          select count(*) from workspace_removals r
          where r.tenant_id = s.tenant_id and part = any($1::text[]) and done_at is not null) = $2 limit 1`,
      values: [REMOVAL_PARTS, REMOVAL_PARTS.length],
    });
    if (!rows[0]) return false;
    await this.finish(rows[0].tenant);
    return true;
  }
}

/** Ignores that a thing was removed meanwhile. @throws every error but NotFound */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}
