import { CommitResolver } from '@fairlead/contracts';
import { Followers, Vault, VersionMismatch } from '@fairlead/eventing';
import {
  BadGateway,
  BadRequest,
  GatewayTimeout,
  HttpProblem,
  Idempotency,
  mapError,
  NotFound,
  PreconditionFailed,
} from '@fairlead/http';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { HostCommitResolver } from './commit.resolver';
import { CredentialsSafe } from './credentials.safe';
import { CodeHostFailed, CodeHostTooSlow, DeliveryRefused, IntegrationNotFound, InvalidIntegration } from './errors';
import { Hosts } from './hosts.service';
import { IntegrationsConsumer } from './integrations.consumer';
import { IntegrationsController } from './integrations.controller';
import { IntegrationsOptions } from './integrations.options';
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
mapError(VersionMismatch, () => new PreconditionFailed());

/**
 * Integrations with code hosts: their records, the repositories they can see, the commits behind names, and the pushes
 * that hosts tell. Needs the providers of EventingModule; provides {@link CommitResolver} to the whole application.
 */
@Module({})
export class IntegrationsModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly view: IntegrationsView,
  ) {}

  static with(options = new IntegrationsOptions()): DynamicModule {
    return {
      module: IntegrationsModule,
      global: true,
      // The listings first: `codehost` is no id.
      controllers: [RepositoriesController, IntegrationsController, WebhooksController, IntegrationsConsumer],
      providers: [
        { provide: IntegrationsOptions, useValue: options },
        CredentialsSafe,
        Hosts,
        HostCommitResolver,
        { provide: CommitResolver, useExisting: HostCommitResolver },
        IntegrationsView,
        Repositories,
        {
          provide: Idempotency,
          useFactory: (pool: Pool, vault: Vault) => new Idempotency(pool, (text) => vault.digest('idempotency', text)),
          inject: [Pool, Vault],
        },
      ],
      exports: [CommitResolver],
    };
  }

  onModuleInit(): void {
    this.followers.register(this.view);
  }
}
