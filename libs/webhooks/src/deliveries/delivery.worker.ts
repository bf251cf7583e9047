import { setMaxListeners } from 'node:events';
import { EventStore, Followers, handle, type Lease, QueueWorker, streamName } from '@fairlead/eventing';
import { Injectable, Logger } from '@nestjs/common';
import { DeliveryAttempts } from './delivery-attempts.service';
import { WebhookDeliveryStore, type Due } from './webhook-delivery.store';
import { judge } from './retry-schedule';
import { TargetStore } from './target.store';
import { disable, webhookModel } from '../webhook/webhook';
import { WebhooksOptions } from '../webhook/webhooks.options';
import { WEBHOOKS_VIEW } from '../webhook/webhook.projection';

/** Time after which a target gives way to waiting ones (ms). */
const TURN_MS = 5000;
const TURN_MOST = 200;
const PAUSE_MS = 10_000;
/** Time without a success after which a target is disabled (ms). */
const HOPELESS = 5 * 24 * 3_600_000;

/** The turn of one target, which its lanes share. */
interface Turn {
  readonly tenant: string | null;
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
export class DeliveryWorker extends QueueWorker {
  private readonly breakingOff = new AbortController();

  constructor(
    private readonly targets: TargetStore,
    private readonly deliveries: WebhookDeliveryStore,
    private readonly attempts: DeliveryAttempts,
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly options: WebhooksOptions,
  ) {
    super(targets, new Logger('Webhooks'), options.targets);
    // Every delivery in progress listens to this one signal.
    setMaxListeners(0, this.breakingOff.signal);
  }

  /** Deliveries in progress may end within the grace period; then they are broken off, to be sent again at the next start. */
  override async onApplicationShutdown(): Promise<void> {
    const timer = setTimeout(() => this.breakingOff.abort(), this.options.grace);
    await super.onApplicationShutdown();
    clearTimeout(timer);
  }

  /** Takes the turn of one target. */
  protected async work({ item: target }: Lease): Promise<void> {
    try {
      const due = await this.deliveries.due(target, TURN_MOST);
      const turn: Turn = { tenant: target.tenant, due, until: Date.now() + TURN_MS, rests: false };
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
    while (!this.stopping.signal.aborted && !turn.rests && Date.now() < turn.until) {
      const id = turn.due.shift();
      if (id === undefined) return;
      const delivery = await this.deliveries.find(turn.tenant, id);
      if (delivery && !turn.rests) turn.rests = await this.send(delivery);
    }
  }

  /** Sends a delivery. Returns whether the target must pause. */
  private async send(due: Due): Promise<boolean> {
    const attempt = await this.attempts.make(due, this.breakingOff.signal);
    const tries = { count: (due.tries?.count ?? 0) + 1, startedAt: due.tries?.startedAt ?? attempt.at };
    const outcome = judge(attempt, tries, Math.random());
    await this.deliveries.record(due, attempt, tries, outcome);
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
    await this.followers.passed(position, [WEBHOOKS_VIEW]);
  }
}
