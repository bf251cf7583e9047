import { type Route, routes } from '@fairlead/api';
import { type createServer } from '@fairlead/edge';
import { Installation, OPERATOR } from '@fairlead/service/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { until } from '@fairlead/postgres/testing';
import { type Answer, exchange, faultOf, type Message } from './exchange';
import { newDeployment, newUpload, newWebhook } from './good-bodies';
import type { Ids, Target } from './requests';

const MISSING = '019a0000-0000-7000-8000-000000000000';

/** The whole service with one tenant, one of everything in it twice. */
export interface FuzzService {
  readonly port: number;
  readonly table: readonly Route[];
  readonly target: Target;
  /** A header line that lets a request in. */
  readonly login: string;
  /** One request as the tenant's administrator. @throws Error unless it succeeds with an answer of the usual shape. */
  ask(method: string, path: string, body?: object | string): Promise<string>;
  /** Sends a request; its answer is checked. @throws Error telling the fault and the request. */
  check(message: Message): Promise<Answer>;
  /** Resolves when everything that happened so far can be read. */
  settled(): Promise<void>;
  /** Rows by table, the log of events among them; not what is noted of refusals and attempts to deliver. */
  countRows(): Promise<Readonly<Record<string, number>>>;
  /** @throws Error when a list, a new deployment or an upload is not answered as usual. */
  answersAsUsual(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the service; `created` is the spied `createServer` that will be called for it. */
export async function startFuzzService(created: jest.MockedFunction<typeof createServer>): Promise<FuzzService> {
  const installation = await Installation.start({ LOG_LEVEL: process.env.FUZZ_LOG ?? 'silent' });
  const stop = () => installation.stop();
  try {
    const app = (await created.mock.results[0]!.value) as NestFastifyApplication;
    return { ...(await prepare(app, installation)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepare(
  app: NestFastifyApplication,
  { whole, database }: Installation,
): Promise<Omit<FuzzService, 'stop'>> {
  const port = Number(new URL(whole.url).port);
  const check = async (message: Message): Promise<Answer> => {
    try {
      const answer = await exchange(port, message);
      const fault = faultOf(answer, message.method === 'HEAD');
      if (fault) throw new Error(fault);
      return answer;
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${show(message)}`, { cause: error });
    }
  };
  const askAs =
    (headers: Message['headers']) =>
    async (method: string, path: string, body?: object | string): Promise<string> => {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const type = [...headers, ['content-type', 'application/json'] as const];
      const answer = await check({ method, target: path, headers: type, body: text ? Buffer.from(text) : undefined });
      if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`);
      return answer.body;
    };
  const settled = async () => {
    const urls = [whole.url, ...whole.processes.map(({ url }) => url)];
    for (const url of urls) await until(async () => ((await isBehind(url)) ? undefined : true));
  };

  const operator = askAs([['x-api-key', OPERATOR]]);
  const tenant = (JSON.parse(await operator('POST', '/api/v1/workspaces', { display_name: 'fuzz' })) as { id: string })
    .id;
  const inTenant = [['x-api-key', OPERATOR] as const, ['x-tenant-id', tenant] as const];
  const scopes = ['admin', 'secrets:read', 'tokens:read'];
  const newKey = await askAs(inTenant)('POST', '/api/v1/api-key', { scopes, description: 'fuzz' });
  const key = (JSON.parse(newKey) as { key: string }).key;
  const ask = askAs([['x-api-key', key]]);
  const filled = [await fill(ask, 'kept'), await fill(ask, 'expendable')] as const;
  await settled();

  return {
    port,
    table: routes(app),
    login: `x-api-key: ${key}`,
    target: {
      logins: [[['x-api-key', key]], inTenant, [['authorization', `Bearer ${key}`]], [['x-api-key', OPERATOR]], []],
      ids: filled[0],
      expendable: filled[1],
    },
    ask,
    check,
    settled,
    async countRows() {
      const { rows: tables } = await database.pool.query<{ name: string }>(
        // Refusals are kept for the audit log, and attempts to deliver go on by themselves.
        `select table_name as name from information_schema.tables
         where table_schema = 'public' and table_name not in ('refused_requests', 'refused_items', 'webhook_attempts') order by 1`,
      );
      const counts = tables.map(({ name }) => `select '${name}' as name, count(*)::int as count from "${name}"`);
      const { rows } = await database.pool.query<{ name: string; count: number }>(counts.join(' union all '));
      return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
    },
    async answersAsUsual() {
      const name = `usual ${crypto.randomUUID()}`;
      const { id } = JSON.parse(await ask('POST', '/v2/deployments', newDeployment(name))) as { id: string };
      const list = await ask('GET', `/v2/deployments?deployment_ids=${id}`);
      if (!list.includes(id)) throw new Error(`The new deployment ${id} is not in the list: ${list}`);
      await ask('POST', '/api/v1/datasets/upload-experiment', newUpload(`${name} upload`));
    },
  };
}

type Ask = FuzzService['ask'];

/** One of everything; the names are those of path parameters. */
async function fill(ask: Ask, name: string): Promise<Ids> {
  type Named = { id: string };
  const json = async <T>(...request: Parameters<Ask>) => JSON.parse(await ask(...request)) as T;
  const deployment = await json<Named & { latest_revision_id: string }>('POST', '/v2/deployments', newDeployment(name));
  const { dataset, experiment } = await json<{ dataset: Named; experiment: Named }>(
    'POST',
    '/api/v1/datasets/upload-experiment',
    newUpload(`${name} upload`),
  );
  const run = await until(async () => {
    type Runs = { runs: Named[] };
    return (await json<Runs>('POST', '/api/v1/runs/query', { session: [experiment.id] })).runs[0];
  });
  const [example] = await json<Named[]>('GET', `/api/v1/examples?dataset=${dataset.id}`);
  const [feedback] = await json<Named[]>('GET', `/api/v1/feedback?run=${run.id}`);
  const apiKey = await json<Named>('POST', '/api/v1/api-key', { description: name });
  const webhook = await json<Named>('POST', '/v1/webhooks', newWebhook);
  const delivery = await json<Named>('POST', `/v1/webhooks/${webhook.id}/test`);
  await json('PATCH', `/v1/webhooks/${webhook.id}`, { enabled: false });
  return {
    deployment_id: deployment.id,
    revision_id: deployment.latest_revision_id,
    other_id: deployment.latest_revision_id,
    secret_name: 'TOKEN',
    dataset_id: dataset.id,
    session_id: experiment.id,
    experiment_id: experiment.id,
    run_id: run.id,
    thread_id: 'a-thread',
    example_id: example?.id ?? MISSING,
    feedback_id: feedback?.id ?? MISSING,
    id: apiKey.id,
    webhook_id: webhook.id,
    delivery_id: delivery.id,
  };
}

/** True when a follower of a process has not come to the end of the log. */
async function isBehind(url: string): Promise<boolean> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const lags = [...metrics.matchAll(/^fairlead_follower_lag_events\{.*\} (.*)$/gm)].map(([, lag]) => Number(lag));
  if (lags.length === 0) throw new Error(`No follower is in the metrics of ${url}.`);
  return lags.some((lag) => lag > 0);
}

/** A request for a reader, long parts cut. */
function show({ method, target, headers, body, chunked }: Message): string {
  const clip = (text: string) => (text.length > 1500 ? `${text.slice(0, 1500)}… (${text.length} characters)` : text);
  const lines = headers.map(([name, value]) => `${name}: ${clip(value)}`);
  return [`${method} ${clip(target)}${chunked ? ' (chunked)' : ''}`, ...lines, '', clip(String(body ?? ''))].join('\n');
}
