import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings, SERVICE_NAMES, urlVariable } from '@fairlead/service';
import { parse } from 'yaml';

/** docker/ and docker-compose.yml, held against what they are to be. Where there is a Docker client, it reads the files as well. */

const ROOT = join(__dirname, '../../..');
const STORES = ['postgres', ...[1, 2, 3].flatMap((n) => [`eventstore-${n}`, `kafka-${n}`])];
const SECRETS: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'password',
  FAIRLEAD_MASTER_KEY: 'ab'.repeat(32),
  FAIRLEAD_API_KEY: 'a-key-of-the-operator',
  METRICS_TOKEN: 'a-token-for-metrics',
};

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly args: { readonly APP: string } };
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment: Readonly<Record<string, string | number>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: {
    readonly replicas?: number;
    readonly resources?: { readonly limits?: { readonly cpus: string; readonly memory: string } };
  };
}

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, object>>;
};

/** With what .env gives. */
function environmentOf(name: string): Record<string, string> {
  const filled = (text: string | number) =>
    String(text).replaceAll(/\$\{(\w+)(?::[-?]([^}]*))?\}/g, (_, variable: string, rest = '') => {
      return SECRETS[variable] ?? (String(rest).startsWith('set ') ? `<${variable}>` : String(rest));
    });
  const entries = Object.entries(compose.services[name]!.environment);
  return Object.fromEntries(entries.map(([variable, value]) => [variable, filled(value)]));
}

it('holds every service, the gateway and the stores, and nothing else', () => {
  expect(Object.keys(compose.services).sort()).toEqual(['gateway', ...SERVICE_NAMES, ...STORES].sort());
});

it.each(['gateway', ...SERVICE_NAMES, ...STORES])('%s is confined, watched and started again', (name) => {
  const { user, read_only, cap_drop, security_opt, restart, healthcheck, deploy } = compose.services[name]!;
  expect({ read_only, cap_drop, security_opt, restart }).toEqual({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    restart: 'unless-stopped',
  });
  expect(user).toMatch(/^(postgres|[1-9]\d*:[1-9]\d*)$/);
  expect(healthcheck?.test.length).toBeGreaterThan(1);
  expect(deploy?.resources?.limits).toEqual({
    cpus: expect.stringMatching(/^\d$/),
    memory: expect.stringMatching(/^\d+[MG]$/),
    pids: expect.any(Number),
  });
});

describe.each(['gateway', ...SERVICE_NAMES])('The service %s', (name) => {
  const { build, deploy, depends_on = {} } = compose.services[name]!;

  it('runs twice, from the one Dockerfile, once the stores are healthy', () => {
    expect(build).toEqual({ context: '.', dockerfile: 'docker/Dockerfile', args: { APP: name } });
    expect(existsSync(join(ROOT, 'apps', name, 'src/main.ts'))).toBe(true);
    expect(deploy?.replicas).toBe(2);
    expect(Object.keys(depends_on)).toEqual(expect.arrayContaining(STORES));
    for (const { condition } of Object.values(depends_on)) expect(condition).toBe('service_healthy');
  });

  it('has settings that are understood', () => {
    const environment = environmentOf(name);
    const settings = readSettings(environment);
    expect(settings).toMatchObject({
      databaseUrl: 'postgres://fairlead:password@postgres:5432/fairlead',
      eventStoreUrl: 'esdb://eventstore-1:2113,eventstore-2:2113,eventstore-3:2113?tls=false',
      kafka: { brokers: ['kafka-1:9092', 'kafka-2:9092', 'kafka-3:9092'] },
      masterKeys: expect.anything(),
      metricsToken: SECRETS.METRICS_TOKEN,
    });
  });
});

it('tells the gateway where every service is, and is reached at the gateway alone', () => {
  for (const name of SERVICE_NAMES) expect(environmentOf('gateway')[urlVariable(name)]).toBe(`http://${name}:4600`);
  const open = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
  expect(open.map(([name, { ports }]) => [name, ports])).toEqual([['gateway', ['127.0.0.1:4600-4601:4600']]]);
  expect(compose.networks.inside).toEqual({ internal: true });
  for (const name of STORES) expect(compose.services[name]!.networks).toEqual(['inside']);
});

it('has a connection to the database for all that want one', () => {
  const processes = 2 * (SERVICE_NAMES.length + 1);
  const { databaseConnections } = readSettings(environmentOf('gateway'));
  const most = /max_connections=(\d+)/.exec(read('docker-compose.yml'))?.[1];
  expect(Number(most)).toBeGreaterThanOrEqual(processes * (databaseConnections + 5));
});

it('keeps what the stores hold in volumes of their own', () => {
  const used = STORES.map((name) => compose.services[name]!.volumes?.[0]?.split(':')[0]);
  expect(used).toEqual(STORES);
  expect(Object.keys(compose.volumes).sort()).toEqual([...STORES].sort());
});

it('makes three nodes of EventStoreDB and three brokers one cluster each', () => {
  for (const n of [1, 2, 3]) {
    const others = [1, 2, 3].filter((other) => other !== n);
    expect(environmentOf(`eventstore-${n}`)).toMatchObject({
      EVENTSTORE_CLUSTER_SIZE: '3',
      EVENTSTORE_NODE_HOST_ADVERTISE_AS: `eventstore-${n}`,
      EVENTSTORE_REPLICATION_HOST_ADVERTISE_AS: `eventstore-${n}`,
      EVENTSTORE_GOSSIP_SEED: others.map((other) => `eventstore-${other}:2113`).join(','),
    });
    expect(environmentOf(`kafka-${n}`)).toMatchObject({
      CLUSTER_ID: environmentOf('kafka-1').CLUSTER_ID,
      KAFKA_NODE_ID: String(n),
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://kafka-${n}:9092`,
      KAFKA_MIN_INSYNC_REPLICAS: '2',
    });
  }
});

describe.each(['docker-compose.yml', 'docker/standalone.yml'])('%s', (name) => {
  const { services: all } = parse(read(name), { merge: true }) as typeof compose;

  it('takes PostgreSQL for ready when it answers where Fairlead asks, not while its image makes the database', () => {
    expect(all.postgres!.healthcheck!.test.join(' ')).toMatch(/^CMD pg_isready -h 127\.0\.0\.1 /);
  });

  it('gives what is built here time to finish requests, and secrets to nobody', () => {
    for (const service of Object.values(all)) {
      if (!service.build) continue;
      expect(Number.parseInt(service.stop_grace_period!, 10)).toBeGreaterThanOrEqual(20);
      expect(service.read_only).toBe(true);
    }
    for (const ignored of ['.gitignore', '.dockerignore']) expect(read(ignored).split('\n')).toContain('.env*');
  });

  it('passes every setting of rollouts on', () => {
    const [, section] = read('docs/reference/settings.md').split('\n## Rollouts\n');
    const settings = [...section!.split('\n## ')[0]!.matchAll(/^\| `(\w+)`/gm)].map(([, variable]) => variable!);
    expect(settings).toContain('EXECUTOR');
    for (const service of Object.values(all)) {
      if (!service.build) continue;
      for (const variable of settings) expect(service.environment[variable]).toMatch(`\${${variable}:-`);
    }
  });
});

it('runs on two cores', () => {
  for (const { deploy } of Object.values(compose.services)) {
    expect(Number(deploy?.resources?.limits?.cpus)).toBeLessThanOrEqual(2);
  }
});

describe('The image', () => {
  const dockerfile = read('docker/Dockerfile');

  it('runs as a user who is not root, by number', () => {
    expect(dockerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  });

  it('names what goes in, and holds all that operators start', () => {
    const copied = [...dockerfile.matchAll(/^COPY --from=build (\S.*)$/gm)].flatMap(([, line]) =>
      [...line!.matchAll(/\/fairlead\/(\S+)/g)].map(([, path]) => path),
    );
    expect(copied).toEqual(['package.json', 'LICENSE', 'node_modules', 'libs', 'tools', 'apps']);
    const [, left] = /^RUN rm -rf (.*) \\$/m.exec(dockerfile)!;
    const there = readdirSync(join(ROOT, 'tools')).filter((tool) => !left!.split(' ').includes(`tools/${tool}`));
    expect(there.sort()).toEqual(['admin']);
  });

  it('is the same for every application but for the last line', () => {
    expect(dockerfile.trimEnd().split('\n').slice(-2)).toEqual([
      'ARG APP=standalone',
      'ENV ENTRY=/fairlead/apps/${APP}/dist/main.js',
    ]);
  });
});

const client = composeClient();
const itWithClient = client ? it : it.skip;
itWithClient.each(['docker-compose.yml', 'docker/standalone.yml'])('%s is what Docker Compose takes', (name) => {
  const [program, ...args] = client!;
  execFileSync(program!, [...args, '-f', join(ROOT, name), 'config', '--quiet'], {
    env: { ...process.env, ...SECRETS },
  });
});

/** The command of Docker Compose, which may be a plugin or a program; the first edition does not know today's files. */
function composeClient(): readonly string[] | undefined {
  return [['docker', 'compose'], ['docker-compose']].find(([program, ...args]) => {
    try {
      const version = execFileSync(program!, [...args, 'version', '--short'], { stdio: ['ignore', 'pipe', 'ignore'] });
      return /^v?[2-9]/.test(version.toString());
    } catch {
      return false;
    }
  });
}
