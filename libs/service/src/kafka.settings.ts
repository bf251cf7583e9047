import { readFileSync } from 'node:fs';
import { type KafkaSettings, parseBrokers, SASL_MECHANISMS } from '@fairlead/eventing';
import { Mistake, oneOf, type Read } from './setting';

/** Returns the settings of Kafka; undefined without KAFKA_BROKERS. Adds mistakes to `mistakes`. */
export function kafkaSettings(read: Read, mistakes: string[]): KafkaSettings | undefined {
  const addresses = read<string[] | undefined>('KAFKA_BROKERS', undefined, brokers);
  const named = read('KAFKA_PREFIX', '', prefix);
  const tls = read('KAFKA_TLS', undefined, oneOf(['true', 'false'])) === 'true';
  const ca = read<string | undefined>('KAFKA_CA_FILE', undefined, contents);
  const mechanism = read('KAFKA_SASL_MECHANISM', undefined, oneOf(SASL_MECHANISMS));
  const username = read<string | undefined>('KAFKA_USERNAME', undefined, (text) => text);
  const password = read<string | undefined>('KAFKA_PASSWORD', undefined, (text) => text);
  const given = [mechanism, username, password].filter((part) => part !== undefined).length;
  if (given % 3 !== 0) mistakes.push('KAFKA_SASL_MECHANISM, KAFKA_USERNAME and KAFKA_PASSWORD need one another.');
  if (ca !== undefined && !tls) mistakes.push('KAFKA_CA_FILE needs KAFKA_TLS.');
  if (!addresses) return undefined;
  return {
    brokers: addresses,
    prefix: named,
    ...(tls && { tls: { ca } }),
    ...(mechanism && username !== undefined && password !== undefined && { sasl: { mechanism, username, password } }),
  };
}

function brokers(text: string): string[] | Mistake {
  try {
    return parseBrokers(text);
  } catch (error) {
    return new Mistake((error as Error).message);
  }
}

function prefix(text: string): string | Mistake {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(text)) return text;
  return new Mistake(`must be letters, digits, dots, hyphens and underscores, not ${JSON.stringify(text)}`);
}

function contents(path: string): string | Mistake {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return new Mistake(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
