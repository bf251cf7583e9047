export const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

export interface KafkaSettings {
  /** `host:port` of some of the brokers; they tell of the others. */
  readonly brokers: readonly string[];
  /** Stands before every topic and consumer group, so that installations can share a cluster. */
  readonly prefix: string;
  /** Encrypts; with the authority of the brokers' certificates when it is not a public one (PEM). */
  readonly tls?: { readonly ca?: string };
  readonly sasl?: {
    readonly mechanism: (typeof SASL_MECHANISMS)[number];
    readonly username: string;
    readonly password: string;
  };
}

/** @throws Error unless the text is a list of `host:port` separated by commas. */
export function parseBrokers(text: string): string[] {
  const brokers = text.split(',').map((address) => address.trim());
  for (const address of brokers) {
    const [, port] = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\]):(\d{1,5})$/i.exec(address) ?? [];
    if (port === undefined || Number(port) < 1 || Number(port) > 65_535) {
      throw new Error(`must be addresses like kafka-1:9092,kafka-2:9092, not ${JSON.stringify(address)}`);
    }
  }
  return brokers;
}
