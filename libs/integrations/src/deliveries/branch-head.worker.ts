import { createHash } from 'node:crypto';
import { plainRepository, type PushCause, type PushFollower, type PushReceivedMessage } from '@fairlead/contracts';
import { EventStore, type Lease, QueueWorker, streamName, VersionConflict } from '@fairlead/eventing';
import { HttpProblem, withTimeLimit } from '@fairlead/schema';
import { Injectable, Logger } from '@nestjs/common';
import type { Head } from '../hosts/dialect';
import { CommitNotFound, mayPass } from '../hosts/code-host.errors';
import { IntegrationCommands } from '../integration/integration.commands';
import { IntegrationNotFound } from '../integration/integration.errors';
import { IntegrationsOptions } from '../integration/integrations.options';
import { type At, RepositoryAccess } from '../repositories/repository-access.service';
import { subjectOf, textOf } from '../hosts/host-text';
import { DeliveryIntake } from './delivery-intake.service';
import { DeliveryStore, type Owner, type StoredPush } from './delivery.store';
import { branchOf, chosen, judge, type Judgement } from './judgement';
import { accepts } from './path-filter';
import { PushBranches } from './push-branches.store';

const AT_ONCE = 16;
/** Pause after a failure of our own (ms). */
const PAUSE_MS = 10_000;
const SWEEP_EVERY_MS = 3_600_000;
const SWEPT_AT_ONCE = 1000;
/** Pushes of one branch whose files are asked for; of more that wait, all are built. */
const MOST_COMPARED = 10;
const SKIPPED = 'it was rolled back from this commit, which is skipped';
const PATHS = 'the push has changed no file that build_on_push_paths chooses';

/** The response of the code host about the deployments of one repository address. */
interface Found {
  readonly head: Head;
  /** The deployments that get a revision of the head, and why the others of the address get none. */
  readonly builds: readonly PushFollower[];
  readonly reasons: ReadonlyMap<string, string>;
}

/**
 * Asks code hosts for the heads of the branches that were pushed to, and lets deployments follow them. All deliveries of
 * a branch that wait are answered by one question: whatever their order, the head is what is deployed.
 */
@Injectable()
export class BranchHeadWorker extends QueueWorker {
  private sweptAt = 0;

  constructor(
    private readonly branches: PushBranches,
    private readonly deliveries: DeliveryStore,
    private readonly intake: DeliveryIntake,
    private readonly integrations: IntegrationCommands,
    private readonly access: RepositoryAccess,
    private readonly store: EventStore,
    private readonly options: IntegrationsOptions,
  ) {
    super(branches, new Logger('Integrations'), AT_ONCE);
  }

  protected override async prepare(): Promise<void> {
    if (Date.now() - this.sweptAt < SWEEP_EVERY_MS) return;
    this.sweptAt = Date.now();
    try {
      while ((await this.deliveries.sweep(SWEPT_AT_ONCE)) === SWEPT_AT_ONCE && !this.stopping.signal.aborted);
    } catch (error) {
      this.logger.error(error);
    }
  }

  protected async work(lease: Lease): Promise<void> {
    const { item } = lease;
    try {
      const owner = await this.branches.find(item.id);
      const pushes = owner ? await this.deliveries.waiting(owner, item.id) : [];
      if (!owner || pushes.length === 0) return await this.branches.finish(item);
      const pause = await this.settle(owner, pushes, lease);
      await (pause === undefined ? this.branches.finish(item) : this.branches.postpone(item, pause));
    } catch (error) {
      if (!lease.signal.aborted) this.logger.error(error);
      await this.branches.postpone(item, PAUSE_MS).catch((lost: unknown) => this.logger.error(lost));
    }
  }

  /** Settles the waiting pushes of a branch. Returns after which pause to ask again when the host did not answer. */
  private async settle(owner: Owner, pushes: readonly StoredPush[], lease: Lease): Promise<number | undefined> {
    const newest = pushes.at(-1)!;
    const followers = await this.intake.followersOf(owner, newest.push);
    try {
      const at = await this.integrations.find(owner.tenantId, owner.integrationId);
      const found = await withTimeLimit(this.options.listDeadline, [lease.signal], (late) =>
        this.ask(at, pushes, followers, late),
      );
      // Nobody else has asked for this head meanwhile.
      await lease.see();
      await this.tell(owner, lease, newest, found);
      await this.deliveries.settle(
        owner,
        pushes.map((push) => settled(push, newest, followers, found)),
      );
      return undefined;
    } catch (error) {
      if (lease.signal.aborted) throw error;
      if (error instanceof IntegrationNotFound) return undefined;
      if (!(error instanceof HttpProblem) && (error as Error).name !== 'TimeoutError') throw error;
      const { pauses, patience } = this.options.deliveries;
      const pause = pauses[Math.min(lease.item.failures, pauses.length - 1)]! * (0.9 + 0.2 * Math.random());
      const patient = mayPass(error) ? patience : -1;
      const { waits } = await this.deliveries.failed(owner, pushes, reasonOf(error, newest), {
        pause,
        patience: patient,
      });
      return waits ? pause : undefined;
    }
  }

  /** Asks the host for the head of the branch in the repository of each address that deployments have. */
  private async ask(
    at: At,
    pushes: readonly StoredPush[],
    followers: readonly PushFollower[],
    late: AbortSignal,
  ): Promise<ReadonlyMap<string, Found>> {
    const { push } = pushes.at(-1)!;
    const found = new Map<string, Found>();
    const wanted = new Map<string, PushFollower[]>();
    for (const follower of followers) {
      if (!pushes.some((one) => chosen(one.push, [follower]).length > 0)) continue;
      const address = plainRepository(follower.repo_url);
      wanted.set(address, [...(wanted.get(address) ?? []), follower]);
    }
    for (const [address, group] of wanted) {
      const { repo_url } = group[0]!;
      if (!(await this.access.isSame(at, repo_url, push.repository_id, late))) {
        const reasons = new Map(
          group.map((one) => [one.deployment_id, 'another repository has the address of the one that is followed']),
        );
        found.set(address, { head: { commit: push.commit }, builds: [], reasons });
        continue;
      }
      const head = await this.access.call(at, repo_url, late, (host, path) =>
        host.get(host.dialect.head(path, branchOf(push)), late),
      );
      await this.access.learn(at, repo_url, late);
      found.set(address, await this.filtered(at, pushes, group, head, late));
    }
    return found;
  }

  private async filtered(
    at: At,
    pushes: readonly StoredPush[],
    group: readonly PushFollower[],
    head: Head,
    late: AbortSignal,
  ): Promise<Found> {
    const { provider } = at.state;
    const reasons = new Map<string, string>();
    const files = new Map<StoredPush, readonly string[] | undefined>();
    if (group.some(({ paths }) => paths.length > 0) && pushes.length <= MOST_COMPARED) {
      for (const one of pushes) files.set(one, await this.filesOf(at, group[0]!.repo_url, one, late));
    }
    const builds = group.filter((follower) => {
      const { deployment_id, paths, repo_commit_sha, skipped_commits } = follower;
      const isChosen = pushes.some((one) => {
        const changed = files.get(one);
        return chosen(one.push, [follower]).length > 0 && (!changed || accepts(provider, paths, changed));
      });
      if (!isChosen) reasons.set(deployment_id, PATHS);
      else if (repo_commit_sha === head.commit)
        reasons.set(deployment_id, 'the latest revision has this commit already');
      else if (skipped_commits.includes(head.commit)) reasons.set(deployment_id, SKIPPED);
      return !reasons.has(deployment_id);
    });
    return { head, builds, reasons };
  }

  /** The files that a push has changed; undefined where the host does not tell all of them, as for a new branch. */
  private async filesOf(at: At, repoUrl: string, { push }: StoredPush, late: AbortSignal) {
    const { before, commit } = push;
    if (before === null) return undefined;
    try {
      return await this.access.call(at, repoUrl, late, (host, path) =>
        host.get(host.dialect.changedFiles(path, before, commit), late),
      );
    } catch (error) {
      if (error instanceof CommitNotFound) return undefined;
      throw error;
    }
  }

  /** Tells deployments about the heads. A worker that was interrupted after it told the same tells nothing again. */
  private async tell(owner: Owner, lease: Lease, newest: StoredPush, found: ReadonlyMap<string, Found>): Promise<void> {
    const { push, delivery_id } = newest;
    const events = [...found.values()].flatMap(({ head, builds }) => {
      if (builds.length === 0) return [];
      const isPushed = head.commit === push.commit;
      const cause: PushCause = {
        delivery_id,
        pusher: push.pusher,
        author: (isPushed ? push.author : null) ?? textOf(head.author),
        subject: (isPushed ? push.subject : null) ?? subjectOf(head.message),
      };
      const data: PushReceivedMessage = {
        ...{ integration_id: owner.integrationId, repo_url: push.repo_url, ref: push.ref },
        ...{ repo_commit_sha: head.commit, deployments: builds.map(({ deployment_id }) => deployment_id), cause },
      };
      return [{ type: 'PushReceived' as const, data }];
    });
    if (events.length === 0) return;
    const name = [lease.item.id, lease.noted.toString(), delivery_id, JSON.stringify(events)].join('\0');
    const stream = streamName('push', createHash('sha256').update(name).digest('hex'));
    try {
      await this.store.append(stream, 0, events, { tenant: owner.tenantId, actor: 'system:integrations' });
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** The outcome of one of the pushes of a branch. */
function settled(
  push: StoredPush,
  newest: StoredPush,
  followers: readonly PushFollower[],
  found: ReadonlyMap<string, Found>,
): { push: StoredPush; judgement: Judgement; head?: string } {
  const first = judge(push.push, followers);
  if (first.status !== 'waiting') return { push, judgement: first };
  const addresses = new Map(followers.map((follower) => [follower.deployment_id, plainRepository(follower.repo_url)]));
  const deployments = first.deployments.map((outcome) => {
    const answer = found.get(addresses.get(outcome.deployment_id) ?? '');
    return { ...outcome, reason: outcome.reason ?? answer?.reasons.get(outcome.deployment_id) ?? null };
  });
  const head = [...found.values()][0]?.head.commit;
  if (!deployments.some(({ reason }) => reason === null)) {
    const { ref } = push.push;
    const [why = 'none builds pushes'] = [...found.values()].flatMap(({ reasons }) => [...reasons.values()]);
    const reason = `No revision of ${ref} is made: ${why}.`;
    return { push, head, judgement: { status: 'ignored', deployments, reason } };
  }
  if (push === newest) return { push, head, judgement: { status: 'done', reason: null, deployments } };
  const reason = `The head of the branch is deployed with the newer delivery ${newest.delivery_id}.`;
  return { push, head, judgement: { status: 'done', reason, deployments } };
}

function reasonOf(error: unknown, { push }: StoredPush): string {
  if (error instanceof CommitNotFound) {
    return `The code host knows no branch ${branchOf(push)} in the repository, or its credentials may not see it.`;
  }
  return (error as Error).name === 'TimeoutError' ? 'The code host took too long to answer.' : (error as Error).message;
}
