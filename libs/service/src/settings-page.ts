import { Mistake, type Read } from './setting';
import { settingsFrom } from './settings';

/** The meaning of each setting, by subject. Defaults and limits come from the code that reads the settings. */
const MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Address and data': {
    PORT: 'Port to listen on; 0 takes a free one.',
    HOST: 'Address to listen on; `0.0.0.0` for every network interface.',
    FAIRLEAD_DATA_DIR: 'Directory of the generated keys and of the embedded PostgreSQL.',
    PUBLIC_URL:
      'Address at which clients reach the service, for upload URLs, attachments and OAuth redirects. Unset: these addresses are given out only to requests that name `localhost`, a loopback address, or the address at which they arrived; others are answered 400.',
    HOSTING:
      'Which sources of deployments are offered. `cloud`: all but `external_container`. `self_hosted`: only `external_container`. `any`: all.',
    WIRE_DIALECT: '`langsmith`: all answers use the words of LangSmith ([spellings](errors.md#two-spellings)).',
    CONSOLE: '`off`: the web console is not served; its API stays.',
    LOG_LEVEL: 'Least severe messages that the log of the process contains.',
  },
  'Keys and secrets': {
    FAIRLEAD_API_KEY:
      'The admin key of the installation. Unset: a key is generated, printed once and stored in `<data dir>/api-key` (mode 0600). Another value replaces the former key at the next start.',
    FAIRLEAD_MASTER_KEY:
      'Key that encrypts the data keys of secrets: 32 bytes as hexadecimal digits or Base64. Several, separated by commas: the first one encrypts, all of them decrypt. Unset: a key is generated and stored in `<data dir>/master.key` (mode 0600).',
    METRICS_TOKEN:
      'Bearer token that `/metrics` requires. Unset: `/metrics` answers requests from this machine only ([metrics](../guides/operations.md#metrics-and-what-to-alert-on)).',
  },
  Storage: {
    DATABASE_URL: 'PostgreSQL to use, version 16 or newer. Unset: an embedded PostgreSQL in the data directory.',
    DATABASE_CONNECTIONS:
      'Largest number of database connections that requests and followers of a process share; two fifths are for requests that only read ([sizing](../guides/operations.md#sizing)).',
    READ_TIMEOUT:
      'Seconds after which a statement of a request that only reads is ended; the request is answered 400 ([long reads](../guides/operations.md#reads-that-take-long)).',
    EVENTSTORE_URL:
      'EventStoreDB that stores the log. Unset: the database does ([EventStoreDB](../guides/eventstoredb.md)).',
  },
  'Limits of requests': {
    BODY_MAX_BYTES:
      'Largest body of a request in bytes, after decompression, except for uploads and for routes with a limit of their own.',
    BODY_MAX_VALUES:
      'Largest number of members and elements, at all levels together, in a JSON body; uploads and runs are not counted. Beyond it: 413.',
    MAX_DEPTH: 'Deepest nesting of arrays and objects in a body.',
    RUNS_MAX:
      'Largest number of runs and feedback in one request; beyond it: 413. They name at most 100 sessions and contain at most 1,000,000 values.',
    UPLOAD_MAX_BYTES: 'Largest body of an upload of an experiment in bytes, after decompression.',
    UPLOAD_MAX_ROW_BYTES: 'Largest element of `results` of an upload, in bytes.',
    BODY_MEMORY_BYTES: 'Bytes of all request bodies in memory together ([overload](../guides/operations.md#overload)).',
    BODY_MIN_RATE: 'Bytes per second at which a request body has to arrive; slower ones are answered 408.',
  },
  'Rates and concurrency': {
    RATE_LIMIT_KEY: 'Requests of one API key in a time ([rate limits](../guides/operations.md#rate-limits)).',
    RATE_LIMIT_ADDRESS: 'Requests of one client address in a time.',
    RATE_LIMIT_WRONG_KEYS: 'Different wrong keys that one address may try in a time.',
    MAX_REQUESTS:
      'Requests that a process works on at a time; beyond it: 503 ([overload](../guides/operations.md#overload)).',
    MAX_REQUESTS_PER_KEY: 'Requests of one key that a process works on at a time.',
    MAX_UPLOADS: 'Uploads that a process receives at a time, counted apart from other requests.',
    MAX_UPLOADS_PER_KEY: 'Uploads of one key that a process receives at a time.',
    MAX_CONNECTIONS: 'Connections of clients to a process at a time.',
    MAX_CONNECTIONS_PER_ADDRESS:
      'Connections at a time of one IPv4 address or IPv6 network (64 bits), and over loopback of one user of this machine; proxies in `TRUST_PROXY` are not counted ([overload](../guides/operations.md#overload)).',
    TRUST_PROXY:
      'Proxies in front of the service whose `X-Forwarded-For` is believed: their number, or their addresses and networks, separated by commas; `loopback`, `linklocal` and `uniquelocal` name networks ([behind a proxy](../guides/operations.md#behind-a-proxy)).',
    CORS_ORIGINS: 'Origins whose scripts may call the API, separated by commas, or `*`.',
    APPS_CORS_ORIGINS:
      'The same for the programs of deployments, at `/apps` ([local executor](../guides/local-addresses.md)); those of `CORS_ORIGINS` when unset.',
  },
  'What a workspace may have': {
    QUOTA_API_KEYS: 'API keys of a workspace ([quotas](../guides/keys-and-tenants.md#what-a-workspace-may-have)).',
    QUOTA_DEPLOYMENTS: 'Deployments of a workspace.',
    QUOTA_INTEGRATIONS: 'Integrations of a workspace.',
    QUOTA_LISTENERS: 'Listeners of a workspace.',
    QUOTA_OAUTH_PROVIDERS: 'OAuth providers of a workspace.',
    QUOTA_WEBHOOKS: 'Webhooks of a workspace.',
    QUOTA_STORED_BYTES: 'Bytes that a workspace may store.',
  },
  Rollouts: {
    EXECUTOR:
      'What a rollout does ([rollouts](../guides/rollouts.md)). Unset: `local` for `npm start` on loopback, without `PUBLIC_URL` and `TRUST_PROXY`, with one workspace; everywhere else `record`.',
    ROLLOUT_TIME_LIMIT: 'Seconds for one attempt at a revision; then it fails.',
    ON_FAILURE:
      'What becomes of what a revision leaves in the cluster that was not deployed, for the executor `kubernetes`. `rollback`: the active revision takes its place again. `keep`: it stays until the next revision.',
    ON_DRIFT:
      'What is done when somebody else has changed what runs, for the executor `kubernetes`. `report`: the deployment is `UNKNOWN`, with the reason. `repair`: the active revision is applied again.',
    COMMAND_BUILD: 'Command of the executor `command` that builds; unset: nothing is built.',
    COMMAND_DEPLOY: 'Command of the executor `command` that deploys.',
    COMMAND_DELETE: 'Command of the executor `command` that removes a deployment.',
    COMMAND_PASS_ENV: 'Variables of the service that its commands see too, separated by commas.',
    LOCAL_AWAKE:
      'Processes of programs of the executor `local` that run at a time; unset: one for each 768 MiB of memory, at least two ([sleep](../guides/local-running.md#sleep)).',
    LOCAL_SLEEP_AFTER:
      'Seconds without a request after which a program of the executor `local` sleeps until the next one.',
    LOCAL_DISK_BYTES:
      'Bytes that the files of a deployment of the executor `local` may take, builds and caches included, or its container may write, and that its image may have ([disk](../guides/local-running.md#disk)).',
    LOCAL_LOG_BYTES:
      'Bytes that the last lines of each program of the executor `local` may take in memory; each line counts 100 bytes more than its text ([logs](../guides/local-logs-and-commands.md#logs)).',
    LOCAL_LOG_RATE:
      'Most lines of a program of the executor `local` that are kept in a second; a line says how many others were dropped.',
    KUBERNETES_NAMESPACE:
      'Namespace of deployments that name none, for the executor `kubernetes` ([namespaces](../guides/kubernetes.md#namespaces)).',
    KUBERNETES_NAMESPACES:
      'Further namespaces that deployments may name, separated by commas: `agents`, `agents=<workspace id>` for one workspace, `agents-{workspace_id}` for one of each.',
    KUBERNETES_ALLOW:
      'What deployments may name in their namespaces, such as `Secret/db,ServiceAccount/agents-*`, separated by commas ([what pods may have](../guides/kubernetes.md#what-pods-may-have)).',
    KUBERNETES_POD_SECURITY: 'Level of the Pod Security Standards of Kubernetes that pods are held to.',
    KUBERNETES_NODES: 'Labels of the nodes that pods run on; unset: any node.',
    KUBERNETES_OVERLAY:
      'YAML documents that are merged into every object of their kind ([overlays](../guides/kubernetes.md#overlays-and-addresses)).',
    KUBERNETES_ROUTE:
      'YAML of an Ingress or HTTPRoute that leads requests to each deployment ([addresses](../guides/kubernetes.md#overlays-and-addresses)).',
    KUBERNETES_HEALTH_PATH:
      'HTTP path at which agents answer when they are ready, for the executor `kubernetes`. Unset: an agent is ready when its port takes connections.',
    UNUSED_AFTER:
      'Seconds without a change and without a run after which a deployment is `UNUSED`; unset: it never is ([deployments](../guides/deployments.md)).',
    REGISTRY_URL: 'Container registry that `push-token` answers; needs `REGISTRY_TOKEN`.',
    REGISTRY_TOKEN: 'Password for that registry; needs `REGISTRY_URL`.',
  },
  'Calls to other hosts': {
    OUTBOUND_ALLOW:
      'Hosts, `host:port`s and address blocks, separated by commas, that may be called for a workspace although they are not public; over http too.',
    WEBHOOK_LOG_DAYS: 'Days for which finished [webhook deliveries](../guides/webhooks.md#the-log) are kept.',
    OTEL_EXPORTER_OTLP_ENDPOINT:
      'OpenTelemetry collector (OTLP over HTTP) that traces are sent to ([traces](../guides/operations.md#traces)).',
  },
  'Seals of the log': {
    SEAL_EVERY_EVENTS:
      'Number of events after which the log is sealed ([audit](../guides/audit.md#store-what-an-audit-needs)).',
    SEAL_EVERY: 'Seconds after which an event is sealed at the latest.',
    SEAL_FILE: 'File that each seal is appended to, as a line of JSON.',
    SEAL_WEBHOOK_URL: 'Address that each seal is sent to with POST, as JSON.',
    SEAL_WEBHOOK_TOKEN: 'Bearer token for that address; needs `SEAL_WEBHOOK_URL`.',
    SEAL_S3_URL: 'Bucket with object lock that stores each seal; needs the two keys.',
    SEAL_S3_ACCESS_KEY_ID: 'Access key of the bucket.',
    SEAL_S3_SECRET_ACCESS_KEY: 'Secret key of the bucket.',
    SEAL_S3_REGION: 'Region of the bucket.',
    SEAL_S3_MODE: '`compliance`: nobody can remove the lock of a seal. `governance`: those who may bypass it can.',
    SEAL_S3_RETAIN_DAYS: 'Days for which each seal is locked.',
  },
  Kafka: {
    KAFKA_BROKERS:
      'Brokers that events are sent to and consumed from, `host:port` separated by commas ([events](../guides/events.md)).',
    KAFKA_PREFIX: 'Text in front of the names of topics and consumer groups.',
    KAFKA_TLS: 'Whether the brokers are reached over TLS.',
    KAFKA_CA_FILE: 'File with the certificates that the brokers are checked with; needs `KAFKA_TLS`.',
    KAFKA_SASL_MECHANISM: 'How the service proves itself to the brokers; needs name and password.',
    KAFKA_USERNAME: 'Name for the brokers.',
    KAFKA_PASSWORD: 'Password for the brokers.',
  },
  'Services in other processes': {
    DEPLOYMENTS_URL:
      'Addresses of processes that run the service `deployments`, asked in turn ([one process or many](../guides/operations.md#one-process-or-many)). Unset: it runs in this process.',
    INTEGRATIONS_URL: 'The same for `integrations`.',
    AUTH_PROVIDERS_URL: 'The same for `auth-providers`.',
    EXPERIMENTS_URL: 'The same for `experiments`.',
    ROLLOUTS_URL: 'The same for `rollouts`.',
    WEBHOOKS_URL: 'The same for `webhooks`.',
  },
};

/** A text that only settings without restrictions accept. */
const NO_VALUE = '?';

interface Found {
  readonly fallback: string;
  readonly takes: string;
}

/**
 * Returns the page docs/reference/settings.md. @throws Error for a setting without a meaning here, or a meaning without
 * a setting.
 */
export function settingsPage(): string {
  const found = settingsFound();
  const subjects = Object.entries(MEANINGS).map(([subject, meanings]) => {
    const rows = Object.entries(meanings).map(([name, meaning]) => {
      const setting = found.get(name);
      if (!setting) throw new Error(`No setting ${name} is read: remove its meaning.`);
      found.delete(name);
      return `| \`${name}\` | ${setting.fallback} | ${setting.takes} | ${meaning} |`;
    });
    return `## ${subject}\n\n| variable | default | value | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
  });
  if (found.size > 0) throw new Error(`Give meanings to the settings ${[...found.keys()].join(', ')}.`);
  return `${INTRODUCTION}\n\n${subjects.join('\n\n')}\n`;
}

const INTRODUCTION = `<!-- Made by \`node tools/reference/reference.mjs\` from the code that reads the settings. Change that, not this page. -->

# Reference: Settings

Environment variables of every process of the service. An empty variable counts as unset. In place of each variable there may be one with \`_FILE\` after its name, such as \`FAIRLEAD_MASTER_KEY_FILE\`: the file that it names contains the value. A wrong value ends the process with exit code 2 and a sentence that names the variable. [Settings](../guides/settings.md) explains how to use them.`;

/** Returns every setting with its default and the values that it takes, from its own error message. */
function settingsFound(): Map<string, Found> {
  const found = new Map<string, Found>();
  const record: Read = (name, fallback, parse) => {
    const wrong = tried(() => parse(NO_VALUE));
    const takes = wrong
      ?.replace(/, not "\?".*$/, '')
      .replace(/^must (be|have|hold) /, '')
      .replaceAll('|', '\\|');
    if (takes !== undefined || !found.has(name)) {
      found.set(name, { fallback: shown(fallback), takes: takes ?? 'any text' });
    }
    return fallback;
  };
  settingsFrom(record, []);
  return found;
}

function tried(parse: () => unknown): string | undefined {
  const value = parse();
  return value instanceof Mistake ? value.text : undefined;
}

function shown(fallback: unknown): string {
  if (fallback === undefined || fallback === '' || (Array.isArray(fallback) && fallback.length === 0)) return 'unset';
  if (typeof fallback === 'string' || typeof fallback === 'number') return `\`${fallback}\``;
  const { requests, seconds } = fallback as { requests: number; seconds: number };
  return `\`${requests}/${seconds === 1 ? 's' : 'm'}\``;
}
