import type { AddressInfo } from 'node:net';
import { appOfHost, CommitResolver, type RevisionCreatedMessage, SourceArchives } from '@fairlead/contracts';
import { connectConsumers, EventStore, handle, load, streamName } from '@fairlead/eventing';
import { TestStores } from '@fairlead/eventing/testing';
import { provided, startModules } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { Module, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { v7 as uuid } from 'uuid';
import { Executor } from '@fairlead/executors';
import { rolloutsMigrations } from '../domain';
import { RolloutsModule } from '../rollouts.module';
import { RolloutsOptions } from '../steps/rollouts.options';
import { type TargetEvent, targetModel } from '../rollout/target';
import { answer, DeploymentsDouble } from './deployments.double';

export const TENANT = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
export const STRANGER = '7f0d0f6e-5c3e-4c1a-9a61-222222222222';

type Wanted = Partial<RevisionCreatedMessage>;

/** A database with deployments in it, and the rollouts service, which can be stopped and started again. */
export class TestRollouts {
  commits: CommitResolver | null = null;
  archives: SourceArchives | null = null;
  options: Partial<RolloutsOptions> = {};
  private app: NestFastifyApplication | undefined;

  private constructor(private readonly stores: TestStores) {}

  static async create(): Promise<TestRollouts> {
    return new TestRollouts(await TestStores.create(rolloutsMigrations));
  }

  get store() {
    return this.stores.store;
  }

  get database() {
    return this.stores.database;
  }

  async start(executor: Executor, store: EventStore = this.store): Promise<void> {
    const { commits, archives } = this;
    const optional = [
      ...(commits ? [{ provide: CommitResolver, useValue: commits }] : []),
      ...(archives ? [{ provide: SourceArchives, useValue: archives }] : []),
    ];
    const options = new RolloutsOptions({ retry: { first: 50, most: 100 }, ...this.options });
    @Module({ controllers: [DeploymentsDouble] })
    class DeploymentsModule {}
    const modules = [
      this.stores.module(store),
      provided(...optional),
      RolloutsModule.register(executor, options),
      DeploymentsModule,
    ];
    this.app = await startModules(modules, [], {
      webSockets: true,
      hosted: (host) => appOfHost(host) && `/app-pages/${appOfHost(host)}`,
      authenticate: async (request) => ({
        keyId: 'key',
        organizationId: TENANT,
        tenantId: request.headers['x-api-key'] === 'stranger' ? STRANGER : TENANT,
        scopes: new Set(request.headers['x-api-key'] === 'invoker' ? ['read', 'invoke'] : ['read', 'write', 'invoke']),
      }),
    });
    await connectConsumers(this.app, 'rollouts');
  }

  /** A provider of the service that was started. */
  get<T>(provider: Type<T>): T {
    return this.app!.get(provider, { strict: false });
  }

  /** Takes connections on a port of this machine; answers its address. */
  async listen(): Promise<string> {
    await this.app!.listen(0, '127.0.0.1');
    return `http://127.0.0.1:${(this.app!.getHttpServer().address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    await this.app?.close();
    this.app = undefined;
  }

  async drop(): Promise<void> {
    await this.stop();
    await this.stores.drop();
  }

  /** A deployment with one secret and no revision. */
  async deployment(
    config: object = {},
    values: Readonly<Record<string, string>> = {},
    tenant = TENANT,
  ): Promise<string> {
    const deployment_id = uuid();
    const names = Object.entries(values);
    const sealed = names.map(async ([name, value]) => {
      return { name, sealed: await this.stores.vault.seal(tenant, deployment_id, name, value) };
    });
    const secrets = await Promise.all(sealed);
    await this.append(
      deployment_id,
      [
        {
          type: 'DeploymentCreated',
          data: {
            deployment_id,
            tenant_id: tenant,
            name: 'agent',
            source: 'codehost',
            source_config: config,
            source_revision_config: {},
            secrets,
          },
        },
      ],
      tenant,
    );
    return deployment_id;
  }

  /** A new revision that waits. */
  async revision(deployment_id: string, wanted: Wanted = {}): Promise<string> {
    const revision_id = uuid();
    const { state } = await load(this.store, targetModel, streamName('deployment', deployment_id));
    const data: RevisionCreatedMessage = {
      revision_id,
      deployment_id,
      source: 'codehost',
      source_revision_config: { repo_ref: 'main' },
      resource_spec: null,
      secrets: state?.secrets ?? [],
      secret_references: null,
      ...wanted,
    };
    await this.append(deployment_id, [{ type: 'RevisionCreated', data }], state?.tenantId);
    return revision_id;
  }

  /** A newer revision takes the place of one that is not ready yet. Returns the newer one. */
  async replace(deployment_id: string, revision_id: string, wanted: Wanted = {}): Promise<string> {
    const replaced_by = await this.revision(deployment_id, wanted);
    const replaced = {
      revision_id,
      previous_status: 'DEPLOYING' as const,
      status: 'INTERRUPTED' as const,
      replaced_by,
    };
    const begun = {
      revision_id: replaced_by,
      previous_status: 'QUEUED' as const,
      status: wanted.source?.endsWith('container') ? ('AWAITING_DEPLOY' as const) : ('AWAITING_BUILD' as const),
    };
    await this.append(
      deployment_id,
      [replaced, begun].map((data) => ({ type: 'RevisionStatusChanged', data })),
    );
    return replaced_by;
  }

  async interrupt(deployment_id: string, revision_id: string): Promise<void> {
    const stream = streamName('deployment', deployment_id);
    const decide = (state: Parameters<typeof answer>[0]) => answer(state, { revision_id, status: 'INTERRUPTED' });
    await handle(this.store, targetModel, stream, decide, { tenant: TENANT });
  }

  async append(deploymentId: string, events: TargetEvent[], tenant = TENANT): Promise<void> {
    await this.store.append(streamName('deployment', deploymentId), 'any', events, { tenant });
  }

  /** The statuses that a revision has had, in order. */
  async statuses(deploymentId: string, revisionId: string): Promise<string[]> {
    const events = await this.store.read(streamName('deployment', deploymentId));
    const moves = events.filter(({ type }) => type === 'RevisionStatusChanged').map(({ data }) => data);
    return (moves as { revision_id: string; status: string }[])
      .filter(({ revision_id }) => revision_id === revisionId)
      .map(({ status }) => status);
  }

  async hostStatuses(deploymentId: string): Promise<string[]> {
    const events = await this.store.read(streamName('host', deploymentId));
    const said = events.filter(({ type }) => type === 'HostStatusReported');
    return said.map(({ data }) => (data as { status: string }).status);
  }

  /** Waits until the revision has had this status; answers all it has had. */
  async reached(deploymentId: string, revisionId: string, status: string): Promise<string[]> {
    return until(
      () => this.statuses(deploymentId, revisionId),
      (statuses) => statuses.includes(status),
    );
  }

  /** Sends a request. */
  ask(method: 'GET' | 'POST', url: string, { headers = {}, payload }: { headers?: object; payload?: string } = {}) {
    return this.app!.inject({ method, url, headers: { 'x-api-key': 'key', ...headers }, payload });
  }

  /** Answer of the program of a deployment, read as JSON. */
  async call(deploymentId: string, path: string) {
    const { statusCode, payload } = await this.ask('GET', `/apps/${deploymentId}${path}`);
    if (statusCode !== 200) throw new Error(`${statusCode}: ${payload}`);
    return JSON.parse(payload);
  }

  /** Asks for a log over HTTP. */
  async logs(path: string, body: object = {}, key = 'key') {
    const answer = await this.app!.inject({
      method: 'POST',
      url: `/v1/projects/${path}`,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    return { status: answer.statusCode, text: answer.payload, json: JSON.parse(answer.payload) };
  }

  /** Asks for the health of a deployment over HTTP. */
  async health(deploymentId: string, key = 'key') {
    const url = `/v2/deployments/${deploymentId}/health`;
    const answer = await this.app!.inject({ method: 'GET', url, headers: { 'x-api-key': key } });
    return { status: answer.statusCode, json: JSON.parse(answer.payload) };
  }
}
