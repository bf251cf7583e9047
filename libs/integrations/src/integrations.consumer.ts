import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import { CredentialsStore } from './credentials.store';

/** Deletes the credentials of a removed integration. */
@Controller()
export class IntegrationsConsumer {
  constructor(private readonly credentials: CredentialsStore) {}

  @EventPattern<string>('IntegrationRemoved')
  async forget(@Ctx() { event }: EventContext): Promise<void> {
    await this.credentials.shred(idOf(event.stream));
  }
}
