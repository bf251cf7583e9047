import type { AddressInfo, Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Vault } from '@fairlead/eventing';
import { ProgramKeys } from '@fairlead/api';
import { Injectable, Logger, Optional, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RolloutReports } from '../rollout/rollout-reports.service';
import {
  type ChooseRevision,
  type Controller,
  LocalApps,
  type StartedRevision,
  type TakenBack,
  type Tell,
  type Tracing,
} from '@fairlead/executors';
import { noteTakenBack } from '../rollout/host';
import { activeOf, type Deployed, previewed, previewProject, previewSecrets } from '../rollout/target';

const LIMITED: Readonly<Record<Controller, string>> = {
  cpu: 'the processor time',
  memory: 'the memory, which the server checks once a second',
  pids: 'the number of processes',
};

/** Interval and time limit (ms) for checking that a deployment knows which revision runs. */
const LOOK_MS = 100;
const MOST_LOOKS = 300;

/** Begins and ends with the service what runs on this machine. */
@Injectable()
export class AppsWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Deployments');
  private readonly stopping = new AbortController();
  private reporting: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly apps: LocalApps,
    private readonly reports: RolloutReports,
    private readonly vault: Vault,
    private readonly host: HttpAdapterHost,
    @Optional() private readonly keys?: ProgramKeys,
  ) {}

  onApplicationBootstrap(): void {
    const { closed, limited, exposed, shared } = this.apps.begin(
      (...asked) => this.choose(...asked),
      (revision) => this.tracing(revision),
      (...told) => this.later(() => this.report(...told)),
      (taken) => this.later(() => this.reportTakenBack(taken)),
    );
    // Programs are told where the server listens.
    const server = this.host.httpAdapter.getHttpServer() as Server;
    server.once('listening', () => this.apps.startAlwaysOn());
    if (exposed !== undefined) {
      this.logger.warn(
        `Deployments run as the user of this server and can read what it reads, because namespaces do not work here: ${exposed}. docs/guides/local-isolation.md says what to do.`,
      );
    } else if (!closed) {
      const [how, help] =
        process.getuid?.() === 0
          ? ['as users of their own', 'nftables would close them']
          : [
              'in namespaces, where they cannot see the files of this user',
              'as root, with nftables, they would be closed',
            ];
      this.logger.warn(
        `Deployments run ${how}, but every program of this machine can connect to their ports: ${help}.`,
      );
    }
    if (shared !== undefined) {
      this.logger.warn(
        `Deployments write to /tmp, /var/tmp and /dev/shm of this machine, because mounts of their own do not work here: ${shared}. docs/guides/local-isolation.md says what follows.`,
      );
    }
    const unlimited = Object.entries(LIMITED).flatMap(([name, what]) => (limited.has(name as Controller) ? [] : what));
    if (unlimited.length > 0) {
      const what = `The system does not limit ${unlimited.join(', ')} of deployments`;
      this.logger.warn(`${what}: this server may not make control groups for that.`);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.apps.end();
    await this.reporting;
  }

  /** One after the other, in the order in which it happened. */
  private later(report: () => Promise<void>): void {
    this.reporting = this.reporting.then(report).catch((error: unknown) => this.logger.error(error));
  }

  private async report(...[deployment_id, status, reason, isCrashLooping]: Parameters<Tell>): Promise<void> {
    const { state } = await this.reports.target(deployment_id);
    if (!state || state.deleting) return;
    const loop = isCrashLooping && { crash_looping: true as const };
    await this.reports.sayHost(state, { deployment_id, status, ...(reason && { reason }), ...loop });
  }

  /** Says that a revision has taken its place back, once the deployment knows that it had lost it. */
  private async reportTakenBack({ from, to, reason }: TakenBack): Promise<void> {
    const [deployment_id, revision_id, active_revision_id] = [from.deploymentId, from.revisionId, to.revisionId];
    for (let looks = 0; looks < MOST_LOOKS && !this.stopping.signal.aborted; looks++) {
      const { state } = await this.reports.target(deployment_id);
      if (!state || state.deleting) return;
      if (state.active_revision_id === revision_id) {
        if (state.previous_revision_id !== active_revision_id) return;
        const taken = { deployment_id, revision_id, active_revision_id, reason };
        await this.reports.decideHost(state, noteTakenBack(taken));
        return;
      }
      // It has just been deployed, which is reported a moment later.
      await delay(LOOK_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  private async tracing({ deploymentId, tenantId, name, revisionId, isPreview }: StartedRevision): ReturnType<Tracing> {
    const address = this.address();
    const { keys } = this;
    if (!address || !keys) return undefined;
    const { state } = await this.reports.target(deploymentId);
    const own = state?.project ?? name;
    const project = isPreview ? previewProject(own, revisionId) : own;
    const issue = () => {
      const key = keys.issue({ keyId: deploymentId, tenantId, project });
      return { key, revoke: () => keys.revoke(key) };
    };
    return { address, project, issue };
  }

  /** Where this machine reaches the server; undefined while it does not listen. */
  private address(): string | undefined {
    const at = (this.host.httpAdapter.getHttpServer() as Server).address() as AddressInfo | null;
    if (!at) return undefined;
    const host = /^(0\.0\.0\.0|::)$/.test(at.address) ? '127.0.0.1' : at.address;
    return `http://${host.includes(':') ? `[${host}]` : host}:${at.port}`;
  }

  /**
   * The active revision, when this executor deployed it; none while a newer one is being rolled out or after a deletion.
   * A revision that is `wanted` is to take its place back, which its deployment may not know yet.
   */
  private async choose(...[revisions, wanted]: Parameters<ChooseRevision>): ReturnType<ChooseRevision> {
    const deploymentId = revisions[0]?.deploymentId ?? '';
    const { state, version } = await this.reports.target(deploymentId);
    if (!state || state.deleting) return undefined;
    if (revisions[0]!.isPreview) return this.chooseHeld(revisions[0]!, state, version);
    const { active_revision_id, executor, running } = state;
    const revision = wanted ?? revisions.find(({ revisionId }) => revisionId === active_revision_id);
    // What was started last runs as soon as its rollout has ended.
    const isLate = !wanted && running !== null && running.id === revisions[0]?.revisionId;
    const spec = state.specs.get(revision?.revisionId ?? '');
    if (!revision || !spec || executor !== 'local' || isLate) return undefined;
    // As they are now: a change of sizes alone makes no revision.
    const sizes = activeOf(state)?.resource_spec ?? null;
    return { revision, secrets: await this.opened(state, version, spec.secrets), sizes };
  }

  /** A held revision with the secrets that its gates give it; undefined once it is held no more, or may not answer. */
  private async chooseHeld(revision: StartedRevision, state: Deployed, version: number): ReturnType<ChooseRevision> {
    const spec = previewed(state);
    if (spec?.revision_id !== revision.revisionId || state.stopped) return undefined;
    const secrets = await this.opened(state, version, previewSecrets(spec));
    return { revision, secrets, sizes: spec.resource_spec ?? null };
  }

  private async opened(state: Deployed, version: number, sealed: Deployed['secrets']): Promise<Map<string, string>> {
    if (sealed.length === 0) return new Map();
    await this.reports.sayRead(
      state,
      version,
      sealed.map(({ name }) => name),
    );
    const opened = sealed.map(
      async ({ name, sealed }) => [name, await this.vault.open(state.tenantId, state.id, name, sealed)] as const,
    );
    return new Map(await Promise.all(opened));
  }
}
