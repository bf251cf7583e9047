import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern } from '@nestjs/microservices';
import { CredentialsSafe } from './credentials.safe';

/** Clears away what a removed integration leaves behind. */
@Controller()
export class IntegrationsConsumer {
  constructor(private readonly safe: CredentialsSafe) {}

  @EventPattern<string>('IntegrationRemoved')
  async forget(@Ctx() { event }: EventContext): Promise<void> {
    await this.safe.shred(idOf(event.stream));
  }
}
