import { type PushFollower, PushFollowers, plainRepository } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import type { Integration, Provider } from '../integration/integration';
import { DeliveryRefused } from '../integration/integration.errors';
import { RepositoryIds } from '../repositories/repository-ids.store';
import { checkProof, type Delivery, eventOf, identityOf, type Push, pushes } from './delivery';
import { HostDeliveryQueries } from './host-delivery.queries';
import { DeliveryStore, type Owner, type Received } from './delivery.store';
import { judge } from './judgement';

/** Entries of deliveries that nobody has proved are written at most this often for an integration and reason (ms). */
const UNPROVED_EVERY_MS = 1000;
const MOST_COUNTED = 10_000;

/** Takes deliveries in: stores them, and says what is made of each. */
@Injectable()
export class DeliveryIntake {
  private readonly unproved = new Map<string, { at: number; times: number }>();

  constructor(
    private readonly deliveries: DeliveryStore,
    private readonly followers: PushFollowers,
    private readonly ids: RepositoryIds,
    private readonly queries: HostDeliveryQueries,
  ) {}

  /** Takes in what the code host of an integration delivers, and answers it. @throws DeliveryRefused */
  async receive(
    { id: integrationId, tenant_id, provider }: Integration,
    secret: string | undefined,
    delivery: Delivery,
  ) {
    const owner = { tenantId: tenant_id, integrationId };
    await this.requireProof(owner, provider, secret, delivery);
    const { id: hostId, key } = identityOf(provider, delivery);
    const event = eventOf(provider, delivery);
    const found = readable(() => pushes(provider, delivery));
    const refusal = found instanceof DeliveryRefused ? found.message : undefined;
    const read = found instanceof DeliveryRefused ? [] : found;
    const { id: delivery_id, repeated } = await this.take(owner, { key, hostId, event, pushes: read, refusal });
    if (found instanceof DeliveryRefused) throw found;
    const { status, reason } = await this.queries.find(owner, delivery_id);
    const detail = reason ?? detailOf(repeated);
    return { pushes: read.length, delivery_id, status, detail, repeated };
  }

  /** Leaves a trace of a delivery that is not signed with the secret. @throws DeliveryRefused */
  private async requireProof(owner: Owner, provider: Provider, secret: string | undefined, delivery: Delivery) {
    try {
      if (secret === undefined) throw new DeliveryRefused(401, 'The integration has no webhook_secret.');
      checkProof(provider, delivery, secret);
    } catch (error) {
      if (error instanceof DeliveryRefused) await this.refuse(owner, error.message);
      throw error;
    }
  }

  /**
   * Stores a delivery and judges its pushes. What a repeated delivery has set aside or left out is judged again, because
   * the reason may be gone.
   */
  private async take(owner: Owner, received: Received): Promise<{ readonly id: string; readonly repeated: boolean }> {
    const added = await this.deliveries.add(owner, received);
    await this.judge(owner, added.id);
    return added;
  }

  /** Judges the pushes of a delivery that were set aside or left out. Returns whether there were any. */
  async judge(owner: Owner, id: string): Promise<boolean> {
    const pushes = await this.deliveries.unsettled(owner, id);
    const judged = [];
    for (const push of pushes) {
      judged.push({ push, judgement: judge(push.push, await this.followersOf(owner, push.push)) });
    }
    await this.deliveries.settle(owner, judged);
    return pushes.length > 0;
  }

  /** Returns the deployments of the repository of a push, also under its former names. */
  async followersOf(owner: Owner, { repo_url, repository_id }: Push): Promise<readonly PushFollower[]> {
    const { tenantId, integrationId } = owner;
    const known = repository_id === null ? [] : await this.ids.addressesOf(tenantId, integrationId, repository_id);
    return this.followers.of(tenantId, integrationId, [...new Set([plainRepository(repo_url), ...known])]);
  }

  /** Leaves a trace of a delivery that is not signed with the secret, without a row for each of them. */
  private async refuse(owner: Owner, reason: string): Promise<void> {
    const key = `${owner.integrationId} ${reason}`;
    const before = this.unproved.get(key);
    const times = (before?.times ?? 0) + 1;
    const now = Date.now();
    if (before && now - before.at < UNPROVED_EVERY_MS) {
      before.times = times;
      return;
    }
    if (this.unproved.size >= MOST_COUNTED) this.unproved.clear();
    this.unproved.set(key, { at: now, times: 0 });
    await this.deliveries.addUnproved(owner, reason, times);
  }
}

/** Returns what a reader returns, or why the delivery is refused. */
function readable<T>(read: () => T): T | DeliveryRefused {
  try {
    return read();
  } catch (error) {
    if (error instanceof DeliveryRefused) return error;
    throw error;
  }
}

/** A sentence about a delivery without any reason of its own. */
function detailOf(repeated: boolean): string {
  return repeated ? 'The delivery came before; it does nothing more.' : 'Deployments follow the push.';
}
