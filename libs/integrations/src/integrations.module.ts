import { Idempotency } from '@fairlead/api';
import {
  AppendTooLarge,
  Followers,
  QuotaReached,
  Quotas,
  Vault,
  VersionMismatch,
  WorkspaceRemovals,
  WorkspaceStopped,
} from '@fairlead/eventing';
import {
  BadGateway,
  BadRequest,
  Conflict,
  GatewayTimeout,
  HttpProblem,
  mapError,
  NotFound,
  PreconditionFailed,
  Forbidden,
} from '@fairlead/schema';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { CommitsModule } from './commits.module';
import { CodeHostFailed, CodeHostTooSlow, DeliveryRefused, IntegrationNotFound, InvalidIntegration } from './errors';
import { IntegrationsConsumer } from './integrations.consumer';
import { IntegrationsController } from './integrations.controller';
import { IntegrationsOptions } from './integrations.options';
import { IntegrationsRemover } from './integrations.remover';
import { IntegrationsView } from './integrations.view';
import { Repositories } from './repositories.service';
import { RepositoriesController } from './repositories.controller';
import { WebhooksController } from './webhooks.controller';

mapError(InvalidIntegration, ({ message }) => new BadRequest(message));
mapError(IntegrationNotFound, ({ message }) => new NotFound(message));
mapError(DeliveryRefused, ({ status, message }) => new HttpProblem(status, message));
mapError(CodeHostTooSlow, ({ message }) => new GatewayTimeout(message));
mapError(CodeHostFailed, ({ message, retryAfter }) => {
  if (retryAfter === undefined) return new BadGateway(message);
  return new HttpProblem(502, message, { headers: { 'retry-after': String(retryAfter) } });
});
mapError(AppendTooLarge, ({ message }) => new HttpProblem(413, message));
mapError(WorkspaceStopped, ({ message }) => new Forbidden(message));
mapError(QuotaReached, ({ message }) => new Conflict(message));
mapError(VersionMismatch, () => new PreconditionFailed());

/**
 * Integrations with code hosts: their records, the repositories they can see, the commits behind names, and the pushes
 * that hosts tell. Needs the providers of EventingModule; provides what {@link CommitsModule} does.
 */
@Module({})
export class IntegrationsModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly quotas: Quotas,
    private readonly removals: WorkspaceRemovals,
    private readonly remover: IntegrationsRemover,
    private readonly view: IntegrationsView,
  ) {}

  static with(options = new IntegrationsOptions()): DynamicModule {
    return {
      module: IntegrationsModule,
      imports: [CommitsModule.with(options)],
      // The listings first: `codehost` is no id.
      controllers: [RepositoriesController, IntegrationsController, WebhooksController, IntegrationsConsumer],
      providers: [
        IntegrationsView,
        IntegrationsRemover,
        Repositories,
        {
          provide: Idempotency,
          useFactory: (pool: Pool, vault: Vault) => new Idempotency(pool, (text) => vault.digest('idempotency', text)),
          inject: [Pool, Vault],
        },
      ],
    };
  }

  onModuleInit(): void {
    this.removals.register('integrations', (tenant) => this.remover.remove(tenant));
    this.quotas.count('integrations', 'IntegrationAdded', 'IntegrationRemoved');
    this.followers.register(this.view);
  }
}
