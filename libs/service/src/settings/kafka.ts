import { readFileSync } from 'node:fs';
import { type KafkaSettings, parseBrokers, SASL_MECHANISMS } from '@fairlead/eventing';
import { note, oneOf, optional, type Reading, setting } from '@fairlead/schema';
import { anyText, codeOf } from './texts';

export const KAFKA = {
  KAFKA_BROKERS: note(
    optional(setting(parseBrokers)),
    'Brokers that events are sent to and consumed from, `host:port` separated by commas ([events](../guides/events.md)).',
  ),
  KAFKA_PREFIX: note(optional(setting(prefix), ''), 'Text in front of the names of topics and consumer groups.'),
  KAFKA_TLS: note(optional(oneOf(['true', 'false'])), 'Whether the brokers are reached over TLS.'),
  KAFKA_CA_FILE: note(
    optional(setting(contents)),
    'File with the certificates that the brokers are checked with; needs `KAFKA_TLS`.',
  ),
  KAFKA_SASL_MECHANISM: note(
    optional(oneOf(SASL_MECHANISMS)),
    'How the service proves itself to the brokers; needs name and password.',
  ),
  KAFKA_USERNAME: note(optional(anyText), 'Name for the brokers.'),
  KAFKA_PASSWORD: note(optional(anyText), 'Password for the brokers.'),
};

/** Returns the settings of Kafka; undefined without KAFKA_BROKERS. Adds mistakes to `mistakes`. */
export function kafkaSettings(read: Reading<typeof KAFKA>, mistakes: string[]): KafkaSettings | undefined {
  const brokers = read('KAFKA_BROKERS');
  const named = read('KAFKA_PREFIX');
  const tls = read('KAFKA_TLS') === 'true';
  const ca = read('KAFKA_CA_FILE');
  const mechanism = read('KAFKA_SASL_MECHANISM');
  const username = read('KAFKA_USERNAME');
  const password = read('KAFKA_PASSWORD');
  const given = [mechanism, username, password].filter((part) => part !== undefined).length;
  if (given % 3 !== 0) mistakes.push('KAFKA_SASL_MECHANISM, KAFKA_USERNAME and KAFKA_PASSWORD need one another.');
  if (ca !== undefined && !tls) mistakes.push('KAFKA_CA_FILE needs KAFKA_TLS.');
  if (!brokers) return undefined;
  return {
    brokers,
    prefix: named,
    ...(tls && { tls: { ca } }),
    ...(mechanism && username !== undefined && password !== undefined && { sasl: { mechanism, username, password } }),
  };
}

function prefix(text: string): string {
  if (/^[A-Za-z0-9._-]{1,100}$/.test(text)) return text;
  throw new Error(`must be letters, digits, dots, hyphens and underscores, not ${JSON.stringify(text)}`);
}

function contents(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`names a file that cannot be read (${codeOf(error)})`, { cause: error });
  }
}
