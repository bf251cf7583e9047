import { examples } from '../output/help';
import type { Command } from 'commander';
import { type Call, reasonHeader } from '../api/api';
import { operationOf } from '../api/description';
import { type Context, does } from '../api/context';
import { addDeploymentLogs } from './deployment-logs.command';
import { addControl } from './deployment-control.command';
import { addDelete } from './deployment-delete.command';
import { addGates, gatesIn } from './deployment-gates.commands';
import { addHealth } from './deployment-health.command';
import { addMetrics } from './deployment-metrics.command';
import { addOpen } from './deployment-open.command';
import { addRun } from './deployment-run.command';
import { addRollback } from './deployment-rollback.command';
import { addRevisionTrend, addScores } from './deployment-scores.command';
import { show, showPlan, showRolledOut, warnOf } from '../api/deployment-answers';
import { addDeploymentDiff } from './deployment-diff.command';
import { addDeploymentHistory } from './deployment-history.commands';
import { addWait } from './deployment-wait.command';
import { showDeployments } from '../output/deployments.show';
import { Usage } from '../failure';
import { type ListOptions, listed, type PageQuery, time, whole } from '../api/lists';
import { deploymentId } from '../api/lookups';
import type { Deployment } from '../api/records';
import { bodyText, type Given, givenValues, namedByOption } from '../table/given-values';
import { addBody, addLines, edition, filters, reaches } from '../table/group';

const STATUSES = ['AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN'];
const ALL = '/v2/deployments';
const ONE = '/v2/deployments/{deployment_id}';

const NOTHING = { source_config: {}, source_revision_config: {}, secrets: [] };

interface GetOptions {
  readonly at?: string;
  readonly atVersion?: number;
  readonly showSecrets?: boolean;
}

interface WriteOptions extends Readonly<Record<string, unknown>> {
  readonly file?: string;
  readonly set?: string[];
  readonly gates?: string;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly plan?: boolean;
  readonly ifMatch?: string;
  readonly wait?: boolean;
}

export function addDeployments(all: Command): void {
  const group = all.command('deployments').alias('deployment').description('create, change and watch deployments');
  addReading(group);
  addReveal(group);
  addWriting(group);
  addDelete(group);
  addRollback(group);
  addDeploymentHistory(group);
  addDeploymentDiff(group);
  addWait(group);
  addHealth(group);
  addGates(group);
  addMetrics(group);
  addScores(group);
  addRevisionTrend(group);
  addOpen(group);
  addControl(group);
  addRun(group);
  addDeploymentLogs(group);
  addLines(group, {
    tag: { route: `PUT ${ONE}/tags`, example: 'support-agent --tag-value-ids 0198c1f0-0000-7000-8000-000000000001' },
    'delete-many': { route: `DELETE ${ALL}`, example: '--deployment-ids support-agent --deployment-ids trial' },
    'push-token': { route: `POST ${ONE}/push-token`, example: 'support-agent' },
    'upload-url': { route: `POST ${ONE}/upload-url`, example: 'support-agent' },
  });
}

function addReading(group: Command): void {
  const list = group.command('list').alias('ls').description('list deployments');
  examples(list, 'deployments list --status READY');
  const query = filters(list, `GET ${ALL}`, 'deployment', { words: { status: STATUSES } });
  does<ListOptions>(list, async (context, _args, options) => {
    const filter = await query(context, options);
    const include = context.out.json ? undefined : 'standing';
    const read = (page: PageQuery, count?: true) => context.api.page(ALL, { include, ...filter, ...page, count });
    const { items, json } = await listed<Deployment>(context, options, read);
    if (context.out.json) context.out.text(json);
    else showDeployments(context, items);
  });

  const get = group
    .command('get')
    .description('show one deployment')
    .argument('<deployment>', 'id or name')
    .option('--at <time>', 'as it was at this time', time)
    .option('--at-version <n>', 'as it was at this version', whole)
    .option('--show-secrets', 'with the values of its secrets in --json; takes a key with the scope secrets:read');
  examples(get, 'deployments get support-agent', 'deployments get support-agent --at 2026-01-31T12:00:00Z');
  reaches(get, `GET ${ONE}`);
  does<GetOptions>(get, async (context, [name], { at, atVersion, showSecrets }) => {
    const path = `/v2/deployments/${await deploymentId(context.api, name!)}`;
    const isNow = at === undefined && atVersion === undefined && !showSecrets;
    const include = isNow && !context.out.json ? 'standing' : undefined;
    const query = { at, version: atVersion, include_secrets: showSecrets, include };
    await show(context, await context.api.send({ method: 'GET', path, query }));
  });
}

/** The value of one secret is all of the output, to be used by another command. */
function addReveal(group: Command): void {
  const reveal = group
    .command('reveal')
    .description('show the value of one secret, which is recorded; takes a key with the scope secrets:read')
    .argument('<deployment>', 'id or name')
    .argument('<secret>', 'its name')
    .requiredOption('--reason <text>', 'why, for the history');
  examples(reveal, "deployments reveal support-agent MODEL_KEY --reason 'the key is changed'");
  reaches(reveal, `POST ${ONE}/secrets/{secret_name}/reveal`);
  does<{ reason: string }>(reveal, async ({ api, out }, [name, secret], { reason }) => {
    const path = `/v2/deployments/${await deploymentId(api, name!)}/secrets/${encodeURIComponent(secret!)}/reveal`;
    const { text } = await api.send({ method: 'POST', path, body: JSON.stringify({ reason }) });
    out.text(out.json ? text : (JSON.parse(text) as { value: string }).value);
  });
}

function addWriting(group: Command): void {
  const create = writing(group.command('create').description('create a deployment')).option(
    '--wait',
    'wait until its first revision is deployed',
  );
  const image = 'source_revision_config.image_uri=registry.example.com/agent';
  examples(
    create,
    'deployments create -f deployment.yaml --wait',
    `deployments create --name support-agent --source external_container --set ${image}:1`,
  );
  const createBody = addBody(create, operationOf(`POST ${ALL}`), 'deployment');
  reaches(create, `POST ${ALL}`);
  does<WriteOptions>(create, async (context, _args, options) => {
    const text = await written(context, `POST ${ALL}`, createBody, options);
    // A file is sent as it is; options need not say that there are no settings and no secrets.
    const body = options.file === undefined ? JSON.stringify({ ...NOTHING, ...(JSON.parse(text) as object) }) : text;
    return write(context, { method: 'POST', path: ALL, body }, options, createBody);
  });

  const patch = writing(group.command('patch').description('change a deployment'))
    .argument('<deployment>', 'id or name')
    .option('--if-match <edition>', 'only when this is its edition', edition)
    .option('--wait', 'wait until the new revision is deployed');
  examples(
    patch,
    `deployments patch support-agent --set ${image}:2`,
    'deployments patch support-agent --set source_config.resource_spec.cpu=2 --dry-run',
    "deployments patch support-agent -f changes.json --reason 'release 2' --wait",
  );
  const patchBody = addBody(patch, operationOf(`PATCH ${ONE}`), 'deployment');
  reaches(patch, `PATCH ${ONE}`);
  does<WriteOptions>(patch, async (context, [name], options) => {
    const body = await written(context, `PATCH ${ONE}`, patchBody, options);
    if (body === '{}') throw new Usage('Give the changes with --set, --file or options such as --name.');
    const path = `/v2/deployments/${await deploymentId(context.api, name!)}`;
    const { headers } = await context.api.send({ method: 'GET', path });
    return write(context, { method: 'PATCH', path, body }, options, patchBody, headers.etag);
  });
}

function writing(command: Command): Command {
  return command
    .option('--gates <file>', 'JSON or YAML with all gates from now on; see "deployments set-gates"')
    .option('--reason <text>', 'why, for the history')
    .option('--dry-run', 'show what it would be, change nothing')
    .option('--plan', 'show what it would change, change nothing');
}

/** Sends the change and shows what came of it; `before` is the edition that it starts from. */
async function write(
  context: Context,
  call: Call,
  options: WriteOptions,
  given: readonly Given[],
  before?: string,
): Promise<number | void> {
  const { reason, dryRun, plan, ifMatch } = options;
  const headers = { ...reasonHeader(reason), ...(ifMatch && { 'if-match': ifMatch }) };
  const sent = context.api.command({ ...call, headers, query: { dry_run: plan ? 'plan' : dryRun } });
  const answer = await sent.catch((error: unknown) => {
    throw namedByOption(error, given, options);
  });
  if (plan) return showPlan(context, answer);
  warnOf(context, answer);
  const { id, latest_revision_id } = JSON.parse(answer.text) as Deployment;
  if (dryRun && !context.out.json) context.out.note('Nothing was changed; this is what it would be:');
  else if (before !== undefined && answer.headers.etag === before && !context.out.json) {
    context.out.note('Nothing has changed: the deployment was like this already.');
  }
  if (!options.wait || dryRun || latest_revision_id === null) return show(context, answer);
  return showRolledOut(context, id, latest_revision_id);
}

/** The JSON of the body that file, assignments and options make. */
async function written(
  { api }: Context,
  route: string,
  given: readonly Given[],
  options: WriteOptions,
): Promise<string> {
  const values = await givenValues(api, 'body', given, options);
  const { source_config } = values as { readonly source_config?: object };
  const gated = options.gates && { source_config: { ...source_config, gates: gatesIn(options.gates) } };
  return bodyText(operationOf(route).body!, options, { ...values, ...gated }, given);
}
