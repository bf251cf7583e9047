import { readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { BODY_SETTINGS, RATE_SETTINGS, readEdgeSettings } from '@fairlead/edge';
import { parseMasterKeys, QUOTA_DEFAULTS, type QuotaLimits } from '@fairlead/eventing';
import { parseOutboundAllow } from '@fairlead/outbound';
import {
  MOST_VALUES,
  note,
  oneOf,
  optional,
  type Optional,
  type Reading,
  readSetting,
  setting,
  whole,
} from '@fairlead/schema';
import { isEventStoreUrl } from '../event-store/open-event-store';
import { KAFKA, kafkaSettings } from './kafka';
import { ROLLOUTS, rolloutSettings } from './rollouts';
import { SEALS, sealSettings } from './seals';
import { anyText, codeOf, MOST_SECONDS, secretWord, urlThat } from './texts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Settings = ReturnType<typeof settingsFrom>;
export type { RolloutSettings } from './rollouts';

const SERVICES = ['deployments', 'integrations', 'auth-providers', 'experiments', 'rollouts', 'webhooks'] as const;

/** A service: every one except the gateway. */
export type ServiceName = (typeof SERVICES)[number];

export const SERVICE_NAMES: readonly ServiceName[] = SERVICES;

/** Returns the name of the setting with the addresses of a service. */
export function urlVariable(name: ServiceName): string {
  return `${name.toUpperCase().replace('-', '_')}_URL`;
}

const MIB = 1024 * 1024;
const DAY = 24 * 3_600_000;

const databaseUrl = urlThat(
  ({ protocol }) => ['postgres:', 'postgresql:'].includes(protocol),
  'must be an address like postgres://user:password@host:5432/database',
);
const collector = urlThat(
  ({ protocol }) => /^https?:$/.test(protocol),
  'must be the address of a collector like http://127.0.0.1:4318',
);
const things = whole(0, 1_000_000);

/** All settings, by subject. */
export const SETTINGS = {
  'Address and data': {
    PORT: note(optional(whole(0, 65_535), 4600), 'Port to listen on; 0 takes a free one.'),
    HOST: note(optional(setting(host), '127.0.0.1'), 'Address to listen on; `0.0.0.0` for every network interface.'),
    FAIRLEAD_DATA_DIR: note(
      optional(anyText, '.fairlead'),
      'Directory of the generated keys and of the embedded PostgreSQL.',
    ),
    PUBLIC_URL: note(
      optional(setting(publicUrl)),
      'Address at which clients reach the service, for upload URLs, attachments and OAuth redirects. Unset: these addresses are given out only to requests that name `localhost`, a loopback address, or the address at which they arrived; others are answered 400.',
    ),
    HOSTING: note(
      optional(oneOf(['any', 'cloud', 'self_hosted']), 'any'),
      'Which sources of deployments are offered. `cloud`: all but `external_container`. `self_hosted`: only `external_container`. `any`: all.',
    ),
    WIRE_DIALECT: note(
      optional(oneOf(['langsmith'])),
      '`langsmith`: all answers use the words of LangSmith ([spellings](errors.md#two-spellings)).',
    ),
    CONSOLE: note(optional(oneOf(['on', 'off']), 'on'), '`off`: the web console is not served; its API stays.'),
    LOG_LEVEL: note(
      optional(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']), 'info'),
      'Least severe messages that the log of the process contains.',
    ),
  },
  'Keys and secrets': {
    FAIRLEAD_API_KEY: note(
      optional(secretWord(20)),
      'The admin key of the installation. Unset: a key is generated, printed once and stored in `<data dir>/api-key` (mode 0600). Another value replaces the former key at the next start.',
    ),
    FAIRLEAD_MASTER_KEY: note(
      optional(setting(masterKeys)),
      'Key that encrypts the data keys of secrets: 32 bytes as hexadecimal digits or Base64. Several, separated by commas: the first one encrypts, all of them decrypt. Unset: a key is generated and stored in `<data dir>/master.key` (mode 0600).',
    ),
    METRICS_TOKEN: note(
      optional(secretWord(16)),
      'Bearer token that `/metrics` requires. Unset: `/metrics` answers requests from this machine only ([metrics](../guides/operations.md#metrics-and-what-to-alert-on)).',
    ),
  },
  Storage: {
    DATABASE_URL: note(
      optional(databaseUrl),
      'PostgreSQL to use, version 16 or newer. Unset: an embedded PostgreSQL in the data directory.',
    ),
    DATABASE_CONNECTIONS: note(
      optional(whole(6, 1000), 20),
      'Largest number of database connections that requests and followers of a process share; two fifths are for requests that only read ([sizing](../guides/operations.md#sizing)).',
    ),
    READ_TIMEOUT: note(
      optional(whole(1, 120), 10),
      'Seconds after which a statement of a request that only reads is ended; the request is answered 400 ([long reads](../guides/operations.md#reads-that-take-long)).',
    ),
    EVENTSTORE_URL: note(
      optional(setting(eventStoreUrl)),
      'EventStoreDB that stores the log. Unset: the database does ([EventStoreDB](../guides/eventstoredb.md)).',
    ),
  },
  'Limits of requests': {
    BODY_MAX_BYTES: note(
      optional(whole(1024, 256 * MIB), 8 * MIB),
      'Largest body of a request in bytes, after decompression, except for uploads and for routes with a limit of their own.',
    ),
    BODY_MAX_VALUES: note(
      optional(whole(100, 10_000_000), MOST_VALUES),
      'Largest number of members and elements, at all levels together, in a JSON body; uploads and runs are not counted. Beyond it: 413.',
    ),
    MAX_DEPTH: note(optional(whole(4, 1000), 100), 'Deepest nesting of arrays and objects in a body.'),
    RUNS_MAX: note(
      optional(whole(1, 1_000_000), 5000),
      'Largest number of runs and feedback in one request; beyond it: 413. They name at most 100 sessions and contain at most 1,000,000 values.',
    ),
    UPLOAD_MAX_BYTES: note(
      optional(whole(1, Number.MAX_SAFE_INTEGER), 256 * MIB),
      'Largest body of an upload of an experiment in bytes, after decompression.',
    ),
    UPLOAD_MAX_ROW_BYTES: note(
      optional(whole(1, 256 * MIB), 16 * MIB),
      'Largest element of `results` of an upload, in bytes.',
    ),
    ...BODY_SETTINGS,
  },
  'Rates and concurrency': RATE_SETTINGS,
  'What a workspace may have': {
    QUOTA_API_KEYS: note(
      optional(things, QUOTA_DEFAULTS.api_keys),
      'API keys of a workspace ([quotas](../guides/keys-and-tenants.md#what-a-workspace-may-have)).',
    ),
    QUOTA_DEPLOYMENTS: note(optional(things, QUOTA_DEFAULTS.deployments), 'Deployments of a workspace.'),
    QUOTA_INTEGRATIONS: note(optional(things, QUOTA_DEFAULTS.integrations), 'Integrations of a workspace.'),
    QUOTA_LISTENERS: note(optional(things, QUOTA_DEFAULTS.listeners), 'Listeners of a workspace.'),
    QUOTA_MONITORS: note(optional(things, QUOTA_DEFAULTS.monitors), 'Monitors of a workspace.'),
    QUOTA_OAUTH_PROVIDERS: note(optional(things, QUOTA_DEFAULTS.oauth_providers), 'OAuth providers of a workspace.'),
    QUOTA_VIEWS: note(optional(things, QUOTA_DEFAULTS.views), 'Saved views of a workspace.'),
    QUOTA_WEBHOOKS: note(optional(things, QUOTA_DEFAULTS.webhooks), 'Webhooks of a workspace.'),
    QUOTA_STORED_BYTES: note(
      optional(whole(0, Number.MAX_SAFE_INTEGER), QUOTA_DEFAULTS.stored_bytes),
      'Bytes that a workspace may store.',
    ),
  },
  Rollouts: {
    ...ROLLOUTS,
    UNUSED_AFTER: note(
      optional(whole(1, MOST_SECONDS)),
      'Seconds without a change and without a run after which a deployment is `UNUSED`; unset: it never is ([deployments](../guides/deployments.md)).',
    ),
    REGISTRY_URL: note(optional(anyText), 'Container registry that `push-token` answers; needs `REGISTRY_TOKEN`.'),
    REGISTRY_TOKEN: note(optional(anyText), 'Password for that registry; needs `REGISTRY_URL`.'),
  },
  'Calls to other hosts': {
    OUTBOUND_ALLOW: note(
      optional(setting(parseOutboundAllow), []),
      'Hosts, `host:port`s and address blocks, separated by commas, that may be called for a workspace although they are not public; over http too.',
    ),
    WEBHOOK_LOG_DAYS: note(
      optional(whole(1, 3650), 30),
      'Days for which finished [webhook deliveries](../guides/webhooks.md#the-log) are kept.',
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: note(
      optional(collector),
      'OpenTelemetry collector (OTLP over HTTP) that traces are sent to ([traces](../guides/operations.md#traces)).',
    ),
  },
  'Seals of the log': SEALS,
  Kafka: KAFKA,
  'Services in other processes': {
    DEPLOYMENTS_URL: note(
      optional(setting(urls)),
      'Addresses of processes that run the service `deployments`, asked in turn ([one process or many](../guides/operations.md#one-process-or-many)). Unset: it runs in this process.',
    ),
    INTEGRATIONS_URL: note(optional(setting(urls)), 'The same for `integrations`.'),
    AUTH_PROVIDERS_URL: note(optional(setting(urls)), 'The same for `auth-providers`.'),
    EXPERIMENTS_URL: note(optional(setting(urls)), 'The same for `experiments`.'),
    ROLLOUTS_URL: note(optional(setting(urls)), 'The same for `rollouts`.'),
    WEBHOOKS_URL: note(optional(setting(urls)), 'The same for `webhooks`.'),
  },
};

const MEMBERS = new Map<string, Optional<unknown, unknown>>(Object.values(SETTINGS).flatMap(Object.entries));

type Subjects = typeof SETTINGS;
type Together<U> = (U extends unknown ? (subject: U) => void : never) extends (all: infer A) => void ? A : never;
type Read = Reading<Together<Subjects[keyof Subjects]>>;

/**
 * The settings cannot be used: one line for each mistake, with the name of the variable. No line contains a key or
 * password.
 */
export class SettingsProblem extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'SettingsProblem';
  }
}

/**
 * Reads the settings from environment variables. An empty variable counts as unset. A variable with `_FILE` after its
 * name names a file that contains the value.
 * @throws SettingsProblem with every mistake.
 */
export function readSettings(env: Environment): Settings {
  const mistakes: string[] = [];
  const read = (name: string): unknown => {
    const { schema, absent } = MEMBERS.get(name)!;
    try {
      const text = env[name]?.trim() || inFile(env[`${name}_FILE`]);
      return text ? readSetting(schema, text) : absent;
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}.`);
      return absent;
    }
  };
  const settings = settingsFrom(read as Read, mistakes);
  if (mistakes.length > 0) throw new SettingsProblem(mistakes);
  return settings;
}

function inFile(path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read from its file ${path} (${codeOf(error)})`, { cause: error });
  }
}

/** Times are in milliseconds. Contradictions between several settings are added to `mistakes`. */
function settingsFrom(read: Read, mistakes: string[]) {
  const unusedAfter = read('UNUSED_AFTER');
  return {
    port: read('PORT'),
    host: read('HOST'),
    dataDir: resolve(read('FAIRLEAD_DATA_DIR')),
    /** Generated when absent. */
    apiKey: read('FAIRLEAD_API_KEY'),
    databaseUrl: read('DATABASE_URL'),
    databaseConnections: read('DATABASE_CONNECTIONS'),
    readTimeout: 1000 * read('READ_TIMEOUT'),
    eventStoreUrl: read('EVENTSTORE_URL'),
    /** Generated when absent. */
    masterKeys: read('FAIRLEAD_MASTER_KEY'),
    hosting: read('HOSTING'),
    dialect: read('WIRE_DIALECT') ? ('wire' as const) : ('specification' as const),
    logLevel: read('LOG_LEVEL'),
    limits: {
      uploadMaxBytes: read('UPLOAD_MAX_BYTES'),
      uploadMaxRowBytes: read('UPLOAD_MAX_ROW_BYTES'),
      bodyMaxBytes: read('BODY_MAX_BYTES'),
      maxRuns: read('RUNS_MAX'),
      bodyMaxValues: read('BODY_MAX_VALUES'),
      maxDepth: read('MAX_DEPTH'),
    },
    quotas: quotas(read),
    rollouts: rolloutSettings(read, mistakes),
    publicUrl: read('PUBLIC_URL'),
    edge: readEdgeSettings(read, read('PUBLIC_URL')),
    console: read('CONSOLE') === 'on',
    metricsToken: read('METRICS_TOKEN'),
    tracesTo: read('OTEL_EXPORTER_OTLP_ENDPOINT'),
    outboundAllow: read('OUTBOUND_ALLOW'),
    unusedAfter: unusedAfter === undefined ? undefined : 1000 * unusedAfter,
    seals: sealSettings(read, mistakes),
    webhookRetention: DAY * read('WEBHOOK_LOG_DAYS'),
    kafka: kafkaSettings(read, mistakes),
    registry: registry(read('REGISTRY_URL'), read('REGISTRY_TOKEN'), mistakes),
    /** Addresses of services that do not run in this process. */
    serviceUrls: serviceUrls(read),
  };
}

function quotas(read: Read): QuotaLimits {
  return {
    api_keys: read('QUOTA_API_KEYS'),
    deployments: read('QUOTA_DEPLOYMENTS'),
    integrations: read('QUOTA_INTEGRATIONS'),
    listeners: read('QUOTA_LISTENERS'),
    monitors: read('QUOTA_MONITORS'),
    oauth_providers: read('QUOTA_OAUTH_PROVIDERS'),
    views: read('QUOTA_VIEWS'),
    webhooks: read('QUOTA_WEBHOOKS'),
    stored_bytes: read('QUOTA_STORED_BYTES'),
  };
}

function serviceUrls(read: Read): Readonly<Partial<Record<ServiceName, readonly string[]>>> {
  return {
    deployments: read('DEPLOYMENTS_URL'),
    integrations: read('INTEGRATIONS_URL'),
    'auth-providers': read('AUTH_PROVIDERS_URL'),
    experiments: read('EXPERIMENTS_URL'),
    rollouts: read('ROLLOUTS_URL'),
    webhooks: read('WEBHOOKS_URL'),
  };
}

function host(text: string): string {
  const named = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^[\d.]+$/.test(text);
  if (isIPv4(text) || isIPv6(text) || named) return text;
  throw new Error(`must be an IP address or a host name of this machine, not ${JSON.stringify(text)}`);
}

function eventStoreUrl(text: string): string {
  if (isEventStoreUrl(text)) return text;
  throw new Error('must be an address like esdb://user:password@host:2113?tls=true');
}

function masterKeys(text: string) {
  try {
    return parseMasterKeys(text, '');
  } catch (error) {
    throw new Error((error as Error).message.trim().replace(/\.$/, ''), { cause: error });
  }
}

const isOrigin = (text: string) => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

function publicUrl(text: string): string {
  if (isOrigin(text)) return text;
  throw new Error('must be an address like https://fairlead.example, without a path');
}

function urls(text: string): string[] {
  const list = text.split(',').map((url) => url.trim());
  if (list.every(isOrigin)) return list;
  throw new Error('must be addresses like http://10.0.0.1:4600, without a path, separated by commas');
}

function registry(url: string | undefined, token: string | undefined, mistakes: string[]) {
  if (url !== undefined && token !== undefined) return { url, token };
  if (url !== undefined) mistakes.push('REGISTRY_URL needs REGISTRY_TOKEN.');
  if (token !== undefined) mistakes.push('REGISTRY_TOKEN needs REGISTRY_URL.');
  return undefined;
}
