import { type Courier, killed, type Service } from '@fairlead/e2e/testing';
import type { Part } from './part';

/** The service in one process, which somebody starts again when it ends. */
export class StandalonePart implements Part {
  readonly name = 'the service';

  constructor(
    private service: Service,
    private readonly courier: Courier,
    private readonly start: () => Promise<Service>,
  ) {}

  async kill(): Promise<void> {
    this.courier.expectKill();
    await killed(this.service.process);
    this.service = await this.start();
  }

  async stop(): Promise<void> {
    await killed(this.service.process);
  }
}
