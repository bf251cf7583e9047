import { readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import {
  type KafkaSettings,
  type MasterKeys,
  parseMasterKeys,
  QUOTA_DEFAULTS,
  QUOTA_KINDS,
  type QuotaLimits,
  quotaSetting,
  SEAL_SCHEDULE,
  type SealSchedule,
  type SealTargets,
} from '@fairlead/eventing';
import { type EdgeSettings, readEdgeSettings } from '@fairlead/edge';
import { type AllowedHost, parseOutboundAllow } from '@fairlead/outbound';
import type { CommandSettings, KubernetesSettings } from '@fairlead/executors';
import { parseCommand } from '@fairlead/schema';
import { isEventStoreUrl } from './event-store/open-event-store';
import { kafkaSettings } from './kafka.settings';
import { kubernetesSettings } from './kubernetes.settings';
import { Mistake, oneOf, orMistake, type Read } from './setting';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  /** Port; 0 for a free one. */
  readonly port: number;
  readonly host: string;
  /** Absolute path of the directory with the generated keys and the embedded PostgreSQL. */
  readonly dataDir: string;
  /** The admin key to accept; generated when absent. */
  readonly apiKey?: string;
  /** PostgreSQL to use instead of the embedded one. */
  readonly databaseUrl?: string;
  /** Largest number of database connections that requests and followers of one process share. */
  readonly databaseConnections: number;
  /** Milliseconds after which a statement of a request that only reads is ended. */
  readonly readTimeout: number;
  /** EventStoreDB with the log; absent when the database contains it. */
  readonly eventStoreUrl?: string;
  /** Keys that encrypt the data keys of secrets; generated when absent. */
  readonly masterKeys?: MasterKeys;
  readonly hosting: Hosting;
  readonly dialect: 'specification' | 'wire';
  readonly logLevel: LogLevel;
  readonly limits: Limits;
  /** Limits of a workspace. */
  readonly quotas: QuotaLimits;
  readonly rollouts: RolloutSettings;
  /** Address at which clients reach the service; absent: the host of their requests. */
  readonly publicUrl?: string;
  readonly edge: EdgeSettings;
  /** True when the process serves the web console. */
  readonly console: boolean;
  /** Bearer token for metrics; without it, only this machine may read them. */
  readonly metricsToken?: string;
  /** OTLP collector over HTTP; without it, nothing is traced. */
  readonly tracesTo?: string;
  /** Further hosts that may be called for users, beside public ones. */
  readonly outboundAllow: readonly AllowedHost[];
  /** Time without a change or a run after which a deployment is UNUSED (ms). */
  readonly unusedAfter?: number;
  /** When the log is sealed, and where seals are sent. */
  readonly seals: SealSchedule & SealTargets;
  /** Milliseconds for which the log of webhook deliveries is kept. */
  readonly webhookRetention: number;
  /** Kafka that events are sent to and consumed from. */
  readonly kafka?: KafkaSettings;
  /** Registry to which clients push images. */
  readonly registry?: { readonly url: string; readonly token: string };
  /** Addresses of services that do not run in this process. */
  readonly serviceUrls: ServiceUrls;
}

const SERVICES = ['deployments', 'integrations', 'auth-providers', 'experiments', 'rollouts', 'webhooks'] as const;

/** A service: every one except the gateway. */
export type ServiceName = (typeof SERVICES)[number];

export const SERVICE_NAMES: readonly ServiceName[] = SERVICES;

/** Returns the name of the setting with the addresses of a service. */
export function urlVariable(name: ServiceName): string {
  return `${name.toUpperCase().replace('-', '_')}_URL`;
}

type ServiceUrls = Readonly<Partial<Record<ServiceName, readonly string[]>>>;

export interface RolloutSettings {
  readonly executor: Executor;
  /** False when no setting names the executor: a standalone installation may then choose another one. */
  readonly isExecutorSet: boolean;
  readonly commands: CommandSettings;
  /** Time limit of one attempt at a revision (ms). */
  readonly timeLimit: number;
  /** Treatment of a failed revision: the active one takes its place again, or it stays. */
  readonly onFailure: (typeof ON_FAILURE)[number];
  /** Reaction to a change of the running program by somebody else: it is reported, or undone as well. */
  readonly onDrift: (typeof ON_DRIFT)[number];
  readonly kubernetes: KubernetesSettings;
  readonly local: LocalSettings;
}

interface LocalSettings {
  /** Programs that run at a time; computed from the memory of the machine when absent. */
  readonly awake?: number;
  /** Time without a request after which a program is ended until the next one (ms). */
  readonly sleepAfter: number;
  /** Bytes of the files of a deployment. */
  readonly disk: number;
  /** Bytes of the lines of a program that are kept, and lines that are kept of those of a second. */
  readonly logs: { readonly bytes: number; readonly rate: number };
}

interface Limits {
  /** Bytes of the body of an upload, after decompression. */
  readonly uploadMaxBytes: number;
  /** Bytes of one element of `results` in an upload. */
  readonly uploadMaxRowBytes: number;
  /** Bytes of any other body. */
  readonly bodyMaxBytes: number;
  /** Number of runs and feedback in one request. */
  readonly maxRuns: number;
  /** Number of members and elements in any other JSON body. */
  readonly bodyMaxValues: number;
  /** Levels of nested arrays and objects in a body. */
  readonly maxDepth: number;
}

const HOSTING = ['any', 'cloud', 'self_hosted'] as const;
const EXECUTORS = ['record', 'command', 'kubernetes', 'local'] as const;
const ON_FAILURE = ['rollback', 'keep'] as const;
const ON_DRIFT = ['report', 'repair'] as const;
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
type Hosting = (typeof HOSTING)[number];
type Executor = (typeof EXECUTORS)[number];
type LogLevel = (typeof LOG_LEVELS)[number];

const MIB = 1024 * 1024;
const MOST_SECONDS = 10 * 365 * 24 * 3600;
const DAY = 24 * 3_600_000;

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
  const read: Read = <T>(name: string, fallback: T, parse: (text: string) => T | Mistake): T => {
    const text = env[name]?.trim() || inFile(env[`${name}_FILE`]);
    if (!text) return fallback;
    const value = text instanceof Mistake ? text : parse(text);
    if (!(value instanceof Mistake)) return value;
    mistakes.push(`${name} ${value.text}.`);
    return fallback;
  };
  const settings = settingsFrom(read, mistakes);
  if (mistakes.length > 0) throw new SettingsProblem(mistakes);
  return settings;
}

/** Returns all settings from `read`. Contradictions between several settings are added to `mistakes`. */
export function settingsFrom(read: Read, mistakes: string[]): Settings {
  return {
    port: read('PORT', 4600, whole(0, 65_535)),
    host: read('HOST', '127.0.0.1', host),
    dataDir: resolve(read('FAIRLEAD_DATA_DIR', '.fairlead', String)),
    apiKey: read('FAIRLEAD_API_KEY', undefined, secretWord(20)),
    databaseUrl: read('DATABASE_URL', undefined, databaseUrl),
    databaseConnections: read('DATABASE_CONNECTIONS', 20, whole(6, 1000)),
    readTimeout: 1000 * read('READ_TIMEOUT', 10, whole(1, 120)),
    eventStoreUrl: read('EVENTSTORE_URL', undefined, eventStoreUrl),
    masterKeys: read('FAIRLEAD_MASTER_KEY', undefined, masterKeys),
    hosting: read('HOSTING', 'any', oneOf(HOSTING)),
    dialect: read('WIRE_DIALECT', undefined, oneOf(['langsmith'])) ? 'wire' : 'specification',
    logLevel: read('LOG_LEVEL', 'info', oneOf(LOG_LEVELS)),
    limits: {
      uploadMaxBytes: read('UPLOAD_MAX_BYTES', 256 * MIB, whole(1, Number.MAX_SAFE_INTEGER)),
      uploadMaxRowBytes: read('UPLOAD_MAX_ROW_BYTES', 16 * MIB, whole(1, 256 * MIB)),
      bodyMaxBytes: read('BODY_MAX_BYTES', 8 * MIB, whole(1024, 256 * MIB)),
      maxRuns: read('RUNS_MAX', 5000, whole(1, 1_000_000)),
      bodyMaxValues: read('BODY_MAX_VALUES', 20_000, whole(100, 10_000_000)),
      maxDepth: read('MAX_DEPTH', 100, whole(4, 1000)),
    },
    quotas: quotas(read),
    rollouts: rollouts(read, mistakes),
    publicUrl: read('PUBLIC_URL', undefined, publicUrl),
    edge: readEdgeSettings((name, fallback, parse) => read(name, fallback, orMistake(parse))),
    console: read('CONSOLE', 'on', oneOf(['on', 'off'])) === 'on',
    metricsToken: read('METRICS_TOKEN', undefined, secretWord(16)),
    tracesTo: read('OTEL_EXPORTER_OTLP_ENDPOINT', undefined, collector),
    outboundAllow: read('OUTBOUND_ALLOW', [], orMistake(parseOutboundAllow)),
    unusedAfter: read('UNUSED_AFTER', undefined, seconds),
    seals: {
      everyEvents: read('SEAL_EVERY_EVENTS', SEAL_SCHEDULE.everyEvents, whole(100, 10_000_000)),
      everyMs: 1000 * read('SEAL_EVERY', SEAL_SCHEDULE.everyMs / 1000, whole(1, MOST_SECONDS)),
      file: read<string | undefined>('SEAL_FILE', undefined, (text) => resolve(text)),
      webhook: sealWebhook(
        read<string | undefined>('SEAL_WEBHOOK_URL', undefined, webAddress),
        read<string | undefined>('SEAL_WEBHOOK_TOKEN', undefined, secretWord(16)),
        mistakes,
      ),
      bucket: sealBucket(
        {
          url: read<string | undefined>('SEAL_S3_URL', undefined, bucketAddress),
          accessKeyId: read<string | undefined>('SEAL_S3_ACCESS_KEY_ID', undefined, secretWord(1)),
          secretAccessKey: read<string | undefined>('SEAL_S3_SECRET_ACCESS_KEY', undefined, secretWord(1)),
          region: read('SEAL_S3_REGION', 'us-east-1', region),
          mode: read('SEAL_S3_MODE', 'compliance', oneOf(['compliance', 'governance'])),
          retainDays: read('SEAL_S3_RETAIN_DAYS', 365, whole(1, 36_500)),
        },
        mistakes,
      ),
    },
    webhookRetention: DAY * read('WEBHOOK_LOG_DAYS', 30, whole(1, 3650)),
    kafka: kafkaSettings(read, mistakes),
    registry: registry(
      read('REGISTRY_URL', undefined, (text) => text),
      read('REGISTRY_TOKEN', undefined, (text) => text),
      mistakes,
    ),
    serviceUrls: {
      deployments: read('DEPLOYMENTS_URL', undefined, urls),
      integrations: read('INTEGRATIONS_URL', undefined, urls),
      'auth-providers': read('AUTH_PROVIDERS_URL', undefined, urls),
      experiments: read('EXPERIMENTS_URL', undefined, urls),
      rollouts: read('ROLLOUTS_URL', undefined, urls),
      webhooks: read('WEBHOOKS_URL', undefined, urls),
    },
  };
}

function inFile(path: string | undefined): string | Mistake | undefined {
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    return new Mistake(`cannot be read from its file ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
}

function rollouts(read: Read, mistakes: string[]): RolloutSettings {
  const named = read('EXECUTOR', undefined, oneOf(EXECUTORS));
  const executor = named ?? 'record';
  return {
    executor,
    isExecutorSet: named !== undefined,
    commands: {
      build: read('COMMAND_BUILD', undefined, orMistake(command)),
      deploy: read('COMMAND_DEPLOY', undefined, orMistake(command)),
      delete: read('COMMAND_DELETE', undefined, orMistake(command)),
      passEnv: read('COMMAND_PASS_ENV', [], names),
    },
    timeLimit: 1000 * read('ROLLOUT_TIME_LIMIT', 1800, whole(1, 7 * 24 * 3600)),
    onFailure: read('ON_FAILURE', 'rollback', oneOf(ON_FAILURE)),
    onDrift: read('ON_DRIFT', 'report', oneOf(ON_DRIFT)),
    kubernetes: kubernetesSettings(read, executor === 'kubernetes', mistakes),
    local: {
      awake: read('LOCAL_AWAKE', undefined, whole(1, 10_000)),
      sleepAfter: 1000 * read('LOCAL_SLEEP_AFTER', 1800, whole(1, MOST_SECONDS)),
      disk: read('LOCAL_DISK_BYTES', 4_294_967_296, whole(100_000_000, 1_000_000_000_000_000)),
      logs: {
        bytes: read('LOCAL_LOG_BYTES', 1_048_576, whole(100_000, 16_777_216)),
        rate: read('LOCAL_LOG_RATE', 500, whole(1, 10_000)),
      },
    },
  };
}

function quotas(read: Read): QuotaLimits {
  const limits = QUOTA_KINDS.map((kind) => [kind, read(quotaSetting(kind), QUOTA_DEFAULTS[kind], whole(0, 1_000_000))]);
  const bytes = read(quotaSetting('stored_bytes'), QUOTA_DEFAULTS.stored_bytes, whole(0, Number.MAX_SAFE_INTEGER));
  return { ...(Object.fromEntries(limits) as QuotaLimits), stored_bytes: bytes };
}

function whole(least: number, most: number): (text: string) => number | Mistake {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    return new Mistake(`must be a whole number from ${least} to ${most}, not ${JSON.stringify(text)}`);
  };
}

function seconds(text: string): number | Mistake {
  const value = whole(1, MOST_SECONDS)(text);
  return value instanceof Mistake ? value : value * 1000;
}

function host(text: string): string | Mistake {
  const named = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^[\d.]+$/.test(text);
  if (isIPv4(text) || isIPv6(text) || named) return text;
  return new Mistake(`must be an IP address or a host name of this machine, not ${JSON.stringify(text)}`);
}

function secretWord(least: number): (text: string) => string | Mistake {
  return (text) => {
    if (text.length < least || text.length > 256) return new Mistake(`must have ${least} to 256 characters`);
    if (!/^[\x21-\x7e]+$/.test(text)) return new Mistake('must hold only visible ASCII characters and no spaces');
    return text;
  };
}

function sealWebhook(url: string | undefined, token: string | undefined, mistakes: string[]): SealTargets['webhook'] {
  if (token !== undefined && url === undefined) mistakes.push('SEAL_WEBHOOK_TOKEN needs SEAL_WEBHOOK_URL.');
  return url === undefined ? undefined : { url, token };
}

interface BucketSettings {
  readonly url: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  readonly region: string;
  readonly mode: 'compliance' | 'governance';
  readonly retainDays: number;
}

function sealBucket(given: BucketSettings, mistakes: string[]): SealTargets['bucket'] {
  const { url, accessKeyId, secretAccessKey, region, mode, retainDays } = given;
  if (url !== undefined && accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { url, accessKeyId, secretAccessKey, region, mode: BUCKET_MODES[mode], retainDays };
  }
  if ([url, accessKeyId, secretAccessKey].some((one) => one !== undefined)) {
    mistakes.push('SEAL_S3_URL, SEAL_S3_ACCESS_KEY_ID and SEAL_S3_SECRET_ACCESS_KEY need one another.');
  }
  return undefined;
}

const BUCKET_MODES = { compliance: 'COMPLIANCE', governance: 'GOVERNANCE' } as const;

function bucketAddress(text: string): string | Mistake {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const usable = url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '';
  return usable ? text : new Mistake('must be the address of a bucket like https://s3.example/evidence');
}

function region(text: string): string | Mistake {
  return /^[a-z0-9-]{1,64}$/.test(text) ? text : new Mistake('must be the name of a region like eu-central-1');
}

function webAddress(text: string): string | Mistake {
  const usable = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).username === '';
  return usable ? text : new Mistake('must be an address like https://evidence.example/seals, without credentials');
}

function collector(text: string): string | Mistake {
  const usable = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return usable ? text : new Mistake('must be the address of a collector like http://127.0.0.1:4318');
}

function databaseUrl(text: string): string | Mistake {
  const usable = URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
  return usable ? text : new Mistake('must be an address like postgres://user:password@host:5432/database');
}

function eventStoreUrl(text: string): string | Mistake {
  return isEventStoreUrl(text) ? text : new Mistake('must be an address like esdb://user:password@host:2113?tls=true');
}

function masterKeys(text: string): MasterKeys | Mistake {
  try {
    return parseMasterKeys(text, '');
  } catch (error) {
    return new Mistake((error as Error).message.trim().replace(/\.$/, ''));
  }
}

function command(text: string): string {
  parseCommand(text);
  return text;
}

function names(text: string): string[] | Mistake {
  const list = text.split(',').map((name) => name.trim());
  if (list.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))) return list;
  return new Mistake(`must be names of variables separated by commas, not ${JSON.stringify(text)}`);
}

function publicUrl(text: string): string | Mistake {
  const usable = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text;
  return usable ? text : new Mistake('must be an address like https://fairlead.example, without a path');
}

function urls(text: string): string[] | Mistake {
  const list = text.split(',').map((url) => url.trim());
  if (list.every((url) => publicUrl(url) === url)) return list;
  return new Mistake('must be addresses like http://10.0.0.1:4600, without a path, separated by commas');
}

function registry(url: string | undefined, token: string | undefined, mistakes: string[]) {
  if (url !== undefined && token !== undefined) return { url, token };
  if (url !== undefined) mistakes.push('REGISTRY_URL needs REGISTRY_TOKEN.');
  if (token !== undefined) mistakes.push('REGISTRY_TOKEN needs REGISTRY_URL.');
  return undefined;
}
