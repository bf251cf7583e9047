import type { EventContext } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import { CredentialsSafe } from './credentials.safe';
import type { IntegrationRemoved } from './integration';

/** Clears away what a removed integration leaves behind. */
@Controller()
export class IntegrationsConsumer {
  constructor(private readonly safe: CredentialsSafe) {}

  @EventPattern<string>('IntegrationRemoved')
  async forget(@Ctx() { event }: EventContext): Promise<void> {
    await this.safe.shred((event.data as IntegrationRemoved['data']).integration_id);
  }
}
