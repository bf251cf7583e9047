import { Followers, VersionMismatch, Vault } from '@fairlead/eventing';
import { BadRequest, Conflict, Idempotency, mapError, NotFound, PreconditionFailed } from '@fairlead/http';
import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { Pool } from 'pg';
import { DeploymentAnswers } from './deployment.answers';
import { DeploymentCommands } from './deployment.commands';
import { DeploymentQueries } from './deployment.queries';
import { DeploymentsView } from './deployment.view';
import { DeploymentsConsumer } from './deployments.consumer';
import { DeploymentsController } from './deployments.controller';
import { DeploymentsOptions } from './deployments.options';
import {
  DeploymentBeingDeleted,
  DeploymentNotFound,
  InvalidDeployment,
  RevisionEnded,
  RevisionNotFound,
  RevisionWaits,
} from './errors';
import { HistoryController } from './history.controller';
import { RevisionsController } from './revisions.controller';
import { SecretSafe } from './secret.safe';

mapError(InvalidDeployment, ({ message }) => new BadRequest(message));
mapError(DeploymentNotFound, ({ message }) => new NotFound(message));
mapError(RevisionNotFound, ({ message }) => new NotFound(message));
mapError(DeploymentBeingDeleted, ({ message }) => new Conflict(message));
mapError(RevisionEnded, ({ message }) => new Conflict(message));
mapError(RevisionWaits, ({ message }) => new Conflict(message));
mapError(VersionMismatch, () => new PreconditionFailed());

/**
 * Deployments and their revisions over HTTP, their read model, and the consumer of their events. Needs the providers
 * of EventingModule; the consumer runs where a microservice is connected to the application.
 */
@Module({})
export class DeploymentsModule implements OnModuleInit {
  constructor(
    private readonly followers: Followers,
    private readonly view: DeploymentsView,
  ) {}

  static with(options = new DeploymentsOptions()): DynamicModule {
    return {
      module: DeploymentsModule,
      controllers: [DeploymentsController, RevisionsController, HistoryController, DeploymentsConsumer],
      providers: [
        { provide: DeploymentsOptions, useValue: options },
        DeploymentCommands,
        DeploymentQueries,
        DeploymentAnswers,
        DeploymentsView,
        SecretSafe,
        {
          provide: Idempotency,
          useFactory: (pool: Pool, vault: Vault) => new Idempotency(pool, (text) => vault.digest('idempotency', text)),
          inject: [Pool, Vault],
        },
      ],
    };
  }

  onModuleInit(): void {
    this.followers.register(this.view);
  }
}
