import { setMaxListeners } from 'node:events';
import { ThrottledWarning, EventStore, Followers, handle, streamName } from '@fairlead/eventing';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DeliveryAttempts } from './delivery.attempt';
import { DeliveryTable, type Due } from './delivery.table';
import { judge } from './retry-schedule';
import { type Target, TargetTable } from './target.table';
import { disable, webhookModel } from '../webhook';
import { WebhooksOptions } from '../webhooks.options';
import { WebhooksView } from '../webhooks.view';

/** Interval of looking for due deliveries, also those of an ended process (ms). */
const LOOK_MS = 1000;
/** Time after which a target gives way to waiting ones (ms). */
const TURN_MS = 5000;
const TURN_MOST = 200;
const PAUSE_MS = 10_000;
/** Time without a success after which a target is disabled (ms). */
const HOPELESS = 5 * 24 * 3_600_000;

/** The turn of one target, which its lanes share. */
interface Turn {
  readonly due: string[];
  readonly until: number;
  /** True when nothing more is sent because the target fails. */
  rests: boolean;
}

/**
 * Sends due deliveries. Many targets are served at a time, each with lanes of its own, so that a slow one delays only
 * itself. A message is sent at least once: again when a process ends between sending and recording it.
 */
@Injectable()
export class DeliverySender implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly warning = new ThrottledWarning((text) => this.logger.error(text));
  private readonly breakingOff = new AbortController();
  private readonly turns = new Set<Promise<void>>();
  private stopping = false;
  private wake: () => void = () => undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly targets: TargetTable,
    private readonly deliveries: DeliveryTable,
    private readonly attempts: DeliveryAttempts,
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly view: WebhooksView,
    private readonly options: WebhooksOptions,
  ) {
    targets.onWake(() => this.wake());
    // Every delivery under way listens to this one signal.
    setMaxListeners(0, this.breakingOff.signal);
  }

  onApplicationBootstrap(): void {
    this.ended = this.run();
  }

  /** Lets running deliveries end, for a while. Then they are aborted and sent again at the next start. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.wake();
    const timer = setTimeout(() => this.breakingOff.abort(), this.options.grace);
    await this.ended;
    await Promise.all(this.turns);
    clearTimeout(timer);
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      const free = this.options.targets - this.turns.size;
      const found = free > 0 ? await this.claim(free) : [];
      for (const target of found) this.begin(target);
      if (found.length > 0 && found.length === free) continue;
      let timer: NodeJS.Timeout | undefined;
      const soon = new Promise<void>((resolve) => (timer = setTimeout(resolve, LOOK_MS)));
      await Promise.race([woken, soon]);
      clearTimeout(timer);
    }
  }

  private async claim(most: number): Promise<Target[]> {
    try {
      const claimed = await this.targets.claim(most);
      this.warning.worked();
      return claimed;
    } catch (error) {
      this.warning.failed(`Nothing can be sent: ${String(error)}`);
      return [];
    }
  }

  private begin(target: Target): void {
    const renewal = setInterval(() => void this.targets.renew(target).catch(() => undefined), this.options.lease / 3);
    const turn = this.takeTurn(target).finally(() => {
      clearInterval(renewal);
      this.turns.delete(turn);
      this.wake();
    });
    this.turns.add(turn);
  }

  private async takeTurn(target: Target): Promise<void> {
    try {
      const due = await this.deliveries.due(target.webhookId, TURN_MOST);
      const turn: Turn = { due, until: Date.now() + TURN_MS, rests: false };
      const lanes = Array.from({ length: this.options.lanes }, () => this.lane(turn));
      const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected');
      if (failed && !this.breakingOff.signal.aborted) throw (failed as PromiseRejectedResult).reason;
      await this.targets.finish(target);
    } catch (error) {
      this.logger.error(error);
      await this.targets.postpone(target, PAUSE_MS).catch((lost: unknown) => this.logger.error(lost));
    }
  }

  /** Sends deliveries of the turn one after the other. */
  private async lane(turn: Turn): Promise<void> {
    while (!this.stopping && !turn.rests && Date.now() < turn.until) {
      const id = turn.due.shift();
      if (id === undefined) return;
      const delivery = await this.deliveries.find(id);
      if (delivery && !turn.rests) turn.rests = await this.send(delivery);
    }
  }

  /** Sends a delivery. Returns whether the target must pause. */
  private async send(due: Due): Promise<boolean> {
    const attempt = await this.attempts.make(due, this.breakingOff.signal);
    const tries = { count: (due.tries?.count ?? 0) + 1, startedAt: due.tries?.startedAt ?? attempt.at };
    const outcome = judge(attempt, tries, Math.random());
    await this.deliveries.record(due.id, attempt, tries, outcome);
    const { id, url } = due.webhook;
    if (outcome.status === 'delivered') {
      await this.targets.noteSuccess(id);
      return false;
    }
    const { since, rests } = await this.targets.noteFailure(id);
    if (outcome.gone) await this.disable(due, 'gone', url);
    else if (attempt.at - since >= HOPELESS) await this.disable(due, 'failing', url);
    return rests;
  }

  private async disable({ webhook }: Due, reason: 'gone' | 'failing', url: string): Promise<void> {
    const stream = streamName('webhook', webhook.id);
    const metadata = { tenant: webhook.tenant_id, actor: 'system:webhooks' };
    const { position } = await handle(this.store, webhookModel, stream, disable(reason, url), metadata);
    await this.followers.passed(position, [this.view.name]);
  }
}
