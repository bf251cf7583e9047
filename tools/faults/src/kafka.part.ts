import { type RunningKafka, startKafka } from '@fairlead/kafka';
import type { Part } from './part';
import { Proxy } from './proxy';

/** A real broker. */
export class KafkaPart implements Part {
  readonly name = 'Kafka';

  private constructor(
    private readonly kafka: RunningKafka,
    readonly proxy: Proxy,
  ) {}

  static async start(directory: string): Promise<KafkaPart> {
    let proxy: Proxy | undefined;
    const advertise = async (port: number) => (proxy = await Proxy.start(port)).port;
    try {
      return new KafkaPart(await startKafka({ directory, advertise }), proxy!);
    } catch (error) {
      await proxy?.stop();
      throw error;
    }
  }

  /** Through the proxy. */
  get addresses(): string {
    return this.kafka.addresses;
  }

  async kill(): Promise<void> {
    const [broker] = this.kafka.brokers;
    await broker!.kill();
    await this.kafka.restart(broker!);
  }

  async stop(): Promise<void> {
    await this.kafka.stop();
    await this.proxy.stop();
  }
}
