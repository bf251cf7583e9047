import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AllowList, Namespaces } from '@fairlead/schema';
import { readSettings, SettingsProblem } from './settings';
import { settingsPage } from './settings-page';

describe('The settings', () => {
  it('hold the quotas of a workspace', () => {
    expect(readSettings({ QUOTA_WEBHOOKS: '7' }).quotas).toMatchObject({ webhooks: 7, listeners: 1000 });
    expect(() => readSettings({ QUOTA_API_KEYS: 'many' })).toThrow(
      'QUOTA_API_KEYS must be a whole number from 0 to 1000000, not "many".',
    );
  });

  it('are all described on the reference page, with the defaults and limits of the code', () => {
    const page = settingsPage();
    expect(page).toContain('| `READ_TIMEOUT` | `10` | a whole number from 1 to 120 |');
    expect(page).toBe(readFileSync(resolve(__dirname, '../../../../docs/reference/settings.md'), 'utf8'));
  });

  it('have defaults for everything', () => {
    expect(readSettings({})).toEqual({
      port: 4600,
      host: '127.0.0.1',
      dataDir: resolve('.fairlead'),
      apiKey: undefined,
      databaseUrl: undefined,
      databaseConnections: 20,
      readTimeout: 10_000,
      eventStoreUrl: undefined,
      masterKeys: undefined,
      hosting: 'any',
      quotas: {
        api_keys: 1000,
        deployments: 10_000,
        integrations: 1000,
        stored_bytes: 107_374_182_400,
        listeners: 1000,
        monitors: 100,
        oauth_providers: 1000,
        views: 500,
        webhooks: 100,
      },
      dialect: 'specification',
      logLevel: 'info',
      rollouts: {
        executor: 'record',
        isExecutorSet: false,
        commands: { build: undefined, deploy: undefined, delete: undefined, passEnv: [] },
        timeLimit: 1_800_000,
        onFailure: 'rollback',
        onDrift: 'report',
        kubernetes: { namespaces: new Namespaces(), rules: { allow: new AllowList(), level: 'restricted' } },
        local: { awake: undefined, sleepAfter: 1_800_000, disk: 4_294_967_296, logs: { bytes: 1_048_576, rate: 500 } },
      },
      limits: {
        uploadMaxBytes: 268_435_456,
        uploadMaxRowBytes: 16_777_216,
        bodyMaxBytes: 8_388_608,
        maxRuns: 5000,
        bodyMaxValues: 20_000,
        maxDepth: 100,
      },
      console: true,
      outboundAllow: [],
      webhookRetention: 2_592_000_000,
      seals: { everyEvents: 10_000, everyMs: 3_600_000, file: undefined, webhook: undefined, bucket: undefined },
      edge: {
        rates: {
          key: { requests: 20_000, seconds: 1 },
          address: { requests: 20_000, seconds: 1 },
          wrongKeys: { requests: 300, seconds: 60 },
        },
        requests: { total: 512, perKey: 256 },
        uploads: { total: 64, perKey: 32 },
        bodyMemory: 268_435_456,
        bodyRate: 1000,
        connections: 10_000,
        connectionsPerAddress: 2500,
        https: false,
      },
      serviceUrls: {},
    });
  });

  it('take an empty variable as one that is not set', () => {
    expect(readSettings({ PORT: '', HOSTING: ' ', FAIRLEAD_API_KEY: '' })).toEqual(readSettings({}));
  });

  it('are read from the environment', () => {
    const settings = readSettings({
      PORT: '0',
      HOST: '::1',
      FAIRLEAD_DATA_DIR: '/tmp/data',
      FAIRLEAD_API_KEY: 'twenty-characters-it',
      DATABASE_URL: 'postgresql://me:secret@db/fairlead',
      EVENTSTORE_URL: 'esdb+discover://me:secret@nodes:2113?tls=true',
      FAIRLEAD_MASTER_KEY: 'ab'.repeat(32),
      HOSTING: 'self_hosted',
      WIRE_DIALECT: 'langsmith',
      LOG_LEVEL: 'DEBUG',
      MAX_DEPTH: '12',
      OUTBOUND_ALLOW: 'git.intranet:8443',
      UNUSED_AFTER: '3600',
      WEBHOOK_LOG_DAYS: '2',
      SEAL_EVERY_EVENTS: '500',
      SEAL_EVERY: '60',
      SEAL_FILE: '/tmp/seals.jsonl',
      SEAL_WEBHOOK_URL: 'https://evidence.example/seals',
      SEAL_WEBHOOK_TOKEN: 'sixteen-letters-it-has',
      SEAL_S3_URL: 'https://s3.example/evidence',
      SEAL_S3_ACCESS_KEY_ID: 'an-id',
      SEAL_S3_SECRET_ACCESS_KEY: 'a-secret',
      SEAL_S3_REGION: 'eu-central-1',
      SEAL_S3_MODE: 'governance',
      SEAL_S3_RETAIN_DAYS: '30',
    });
    expect(settings).toMatchObject({
      port: 0,
      host: '::1',
      dataDir: '/tmp/data',
      apiKey: 'twenty-characters-it',
      databaseUrl: 'postgresql://me:secret@db/fairlead',
      eventStoreUrl: 'esdb+discover://me:secret@nodes:2113?tls=true',
      hosting: 'self_hosted',
      dialect: 'wire',
      logLevel: 'debug',
      limits: { maxDepth: 12 },
      outboundAllow: [{ hostname: 'git.intranet', port: '8443' }],
      unusedAfter: 3_600_000,
      webhookRetention: 172_800_000,
      seals: {
        everyEvents: 500,
        everyMs: 60_000,
        file: '/tmp/seals.jsonl',
        webhook: { url: 'https://evidence.example/seals', token: 'sixteen-letters-it-has' },
        bucket: {
          url: 'https://s3.example/evidence',
          accessKeyId: 'an-id',
          secretAccessKey: 'a-secret',
          region: 'eu-central-1',
          mode: 'GOVERNANCE',
          retainDays: 30,
        },
      },
    });
    expect(settings.masterKeys?.current.key.toString('hex')).toBe('ab'.repeat(32));
  });

  it('list every mistake, one line each, without repeating a secret', () => {
    const mistakes = () =>
      readSettings({
        PORT: '70000',
        HOST: '300.1.1.1',
        FAIRLEAD_API_KEY: 'short-secret',
        DATABASE_URL: 'mysql://me:secret@db',
        EVENTSTORE_URL: 'http://me:secret@nodes:2113',
        FAIRLEAD_MASTER_KEY: 'secret',
        HOSTING: 'moon',
        WIRE_DIALECT: 'klingon',
        LOG_LEVEL: 'loud',
        UPLOAD_MAX_BYTES: '-1',
        UPLOAD_MAX_ROW_BYTES: '1.5',
        BODY_MAX_BYTES: 'many',
        MAX_DEPTH: '1e3',
        RATE_LIMIT_KEY: 'fast',
        TRUST_PROXY: 'everyone',
        METRICS_TOKEN: 'secret',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      });
    expect(mistakes).toThrow(SettingsProblem);
    const { lines } = problemOf(mistakes);
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'PORT',
      'HOST',
      'FAIRLEAD_API_KEY',
      'DATABASE_URL',
      'EVENTSTORE_URL',
      'FAIRLEAD_MASTER_KEY',
      'HOSTING',
      'WIRE_DIALECT',
      'LOG_LEVEL',
      'UPLOAD_MAX_BYTES',
      'UPLOAD_MAX_ROW_BYTES',
      'BODY_MAX_BYTES',
      'MAX_DEPTH',
      'RATE_LIMIT_KEY',
      'TRUST_PROXY',
      'METRICS_TOKEN',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ]);
    for (const line of lines) expect(line).toMatch(/^\S+ must [^\n]+\.$/);
    expect(lines.join()).not.toContain('secret');
  });

  it('name the namespaces of a cluster that deployments may use, and what they may name there', () => {
    const env = {
      EXECUTOR: 'kubernetes',
      KUBERNETES_NAMESPACE: 'agents',
      KUBERNETES_ALLOW: 'Secret/db',
      KUBERNETES_NODES: 'disk=ssd, a.b/c=',
    };
    const mistakes = (wrong: Record<string, string>) => problemOf(() => readSettings(wrong)).lines;
    const { namespaces, rules, nodes } = readSettings(env).rollouts.kubernetes;
    expect(nodes).toEqual({ disk: 'ssd', 'a.b/c': '' });
    expect(mistakes({ KUBERNETES_NODES: 'disk' })[0]).toMatch(/^KUBERNETES_NODES must be labels like disk=ssd/);
    expect(namespaces.of('any', undefined)).toBe('agents');
    expect([rules.allow.has('Secret', 'db', 'any'), rules.allow.has('Secret', 'other', 'any')]).toEqual([true, false]);
    expect(mistakes({ EXECUTOR: 'kubernetes' })).toEqual([
      'EXECUTOR=kubernetes needs KUBERNETES_NAMESPACE or KUBERNETES_NAMESPACES.',
    ]);
    expect(
      mistakes({
        KUBERNETES_NAMESPACE: 'A',
        KUBERNETES_NAMESPACES: 'a=b',
        KUBERNETES_ALLOW: 'x',
        KUBERNETES_POD_SECURITY: 'x',
      }),
    ).toEqual([
      expect.stringMatching(/^KUBERNETES_NAMESPACE must be names that Kubernetes allows/),
      expect.stringMatching(/^KUBERNETES_NAMESPACES must have the id of a workspace/),
      expect.stringMatching(/^KUBERNETES_ALLOW must be a list like/),
      expect.stringMatching(/^KUBERNETES_POD_SECURITY must be restricted, baseline, privileged or unset/),
    ]);
  });

  it('name a Kafka cluster, and what its connections need', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fairlead-settings-'));
    const authority = join(folder, 'ca.pem');
    writeFileSync(authority, 'PEM');
    const { kafka } = readSettings({
      KAFKA_BROKERS: 'kafka-1:9092, [::1]:9093',
      KAFKA_PREFIX: 'staging.',
      KAFKA_TLS: 'true',
      KAFKA_CA_FILE: authority,
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_USERNAME: 'fairlead',
      KAFKA_PASSWORD: 'secret',
    });
    expect(kafka).toEqual({
      brokers: ['kafka-1:9092', '[::1]:9093'],
      prefix: 'staging.',
      tls: { ca: 'PEM' },
      sasl: { mechanism: 'scram-sha-512', username: 'fairlead', password: 'secret' },
    });
    expect(readSettings({ KAFKA_BROKERS: 'kafka:9092' }).kafka).toEqual({ brokers: ['kafka:9092'], prefix: '' });
    expect(readSettings({}).kafka).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it('say what is wrong with those of a Kafka cluster', () => {
    const mistakes = () =>
      readSettings({
        KAFKA_BROKERS: 'kafka',
        KAFKA_PREFIX: 'my topics',
        KAFKA_CA_FILE: '/no/such/file',
        KAFKA_SASL_MECHANISM: 'plain',
        KAFKA_PASSWORD: 'secret',
      });
    expect(problemOf(mistakes).lines).toEqual([
      'KAFKA_BROKERS must be addresses like kafka-1:9092,kafka-2:9092, not "kafka".',
      'KAFKA_PREFIX must be letters, digits, dots, hyphens and underscores, not "my topics".',
      'KAFKA_CA_FILE names a file that cannot be read (ENOENT).',
      'KAFKA_SASL_MECHANISM, KAFKA_USERNAME and KAFKA_PASSWORD need one another.',
    ]);
  });

  it.each(['with space in the middle', 'with-ümlaut-in-the-middle'])(
    'refuse the key %j, which no header can carry',
    (key) => {
      expect(() => readSettings({ FAIRLEAD_API_KEY: key })).toThrow(/FAIRLEAD_API_KEY must hold only/);
    },
  );
});

function problemOf(work: () => unknown): SettingsProblem {
  try {
    work();
  } catch (error) {
    if (error instanceof SettingsProblem) return error;
  }
  throw new Error('There was no problem.');
}
