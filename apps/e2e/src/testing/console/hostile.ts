import { until } from '@fairlead/postgres/testing';
import { type Installation, OPERATOR } from '@fairlead/service/testing';
import type { Outside } from '../outside';
import { askUntil } from '../route-service';
import { newDeployment, upload } from '../tenant-things';
import type { Canaries } from './canaries';
import { hostileTrace, sendRuns } from './traces';

/** Text that would be markup, a script, an end of a script or a turn of the direction, if anything took it as such. */
const EVIL = `<img src=x onerror="document.title='ran'">"'\`</script><b>{{7*7}}\u202egnirts`;
const DEEP = 90;
const LONG_LINE = 1_000_000;

/** The ids of what was made. */
export interface HostileThings {
  readonly dataset: string;
  readonly experiments: readonly string[];
  readonly example: string;
  readonly run: string;
  /** Project of which a run was refused, and one with a trace. */
  readonly project: string;
  readonly traced: string;
  readonly trace: string;
  readonly deployment: string;
  /** Deployment with a rollout under way. */
  readonly slow: string;
  readonly slowRevision: string;
  readonly integration: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly datasetToken: string;
  readonly runToken: string;
  readonly linkToken: string;
  readonly workspace: string;
  /** A workspace that has nothing, and its empty dataset. */
  readonly empty: string;
  readonly emptyDataset: string;
}

/**
 * Command that prints a secret in every way that a program would, colours, and markup; `slow` in an image takes its
 * time.
 */
export const DEPLOY = `/bin/sh -c 'printf "\\033[31mred\\033[0m <img src=x onerror=alert(1)> %s\\n" "$FAIRLEAD_SECRET_TOKEN"; case "$FAIRLEAD_IMAGE_URI" in *slow*) sleep 3600;; *bad*) echo "no <b>such</b> image" >&2; exit 3;; esac'`;

const reason = () => ({ 'x-reason': encodeURIComponent(EVIL) });

/** Puts hostile text into every field that takes any, and a canary into every field that is a secret. */
export async function fillHostile(
  installation: Installation,
  outside: Outside,
  canaries: Canaries,
): Promise<HostileThings> {
  const ask = <T>(...request: Parameters<Installation['ask']>): Promise<T> => installation.ask(...request);
  const made = await fillExperiments(ask, canaries);
  const sent = hostileTrace();
  const traced = await sendRuns(installation, `traced ${EVIL}`, sent);
  const { deployment, slow, slowRevision } = await fillDeployments(ask, canaries);
  const { id: integration } = await ask<{ id: string }>('POST', '/v1/integrations', {
    name: `code host ${EVIL}`,
    provider: 'gitlab',
    base_url: outside.url,
    credentials: { token: canaries.plant('token of a code host') },
    webhook_secret: canaries.plant('push secret of a code host'),
  });
  await ask('PATCH', `/v1/integrations/${integration}`, {
    credentials: { token: canaries.plant('new token of a code host') },
  });
  await fillProvider(installation, outside, canaries);
  await ask('POST', '/v2/listeners', {
    compute_type: 'k8s',
    compute_id: `cluster ${EVIL}`,
    compute_config: { cluster_namespaces: ['agents'] },
  });
  const { id: webhook, secret } = await ask<{ id: string; secret: string }>('POST', '/v1/webhooks', {
    url: `${outside.url}/hook?${encodeURIComponent(EVIL)}&token=${canaries.plant('token in the address of a webhook')}`,
    event_types: ['dataset.deleted'],
    description: `webhook ${EVIL}`,
  });
  canaries.watch('signing secret of a webhook', secret);
  const watched = { project_id: traced, measure: 'score', feedback_key: EVIL, alerts_when: 'below', threshold: 1 };
  await ask('POST', '/v1/monitors', { name: `monitor ${EVIL}`, ...watched });
  const { id: delivery } = await ask<{ id: string }>('POST', `/v1/webhooks/${webhook}/test`);
  await fillKeys(installation, ask, canaries);
  const { id: empty } = await ask<{ id: string }>('POST', '/api/v1/workspaces', { display_name: `empty ${EVIL}` });
  const { id: emptyDataset } = await ask<{ id: string }>(
    'POST',
    '/api/v1/datasets',
    { name: 'nothing in it' },
    {
      'x-tenant-id': empty,
    },
  );
  const { tenant_id: workspace } = await ask<{ tenant_id: string }>('GET', '/api/v1/api-key/current');
  const traces = { traced, trace: sent[0]!.id };
  return {
    ...made,
    ...traces,
    workspace,
    deployment,
    slow,
    slowRevision,
    integration,
    webhook,
    delivery,
    empty,
    emptyDataset,
  };
}

type Ask = <T>(...request: Parameters<Installation['ask']>) => Promise<T>;

function rowOf(n: number, name: string, score: number | undefined) {
  const { results, ...body } = upload(name);
  const deep = JSON.parse('{"a":'.repeat(DEEP) + '1' + '}'.repeat(DEEP)) as object;
  const outputs = [
    { answer: `${name} ${EVIL}` },
    { answer: 'x'.repeat(LONG_LINE) },
    { [EVIL]: { ['<b>']: 1 }, deep },
    JSON.parse(`{"__proto__": {"polluted": true}, "constructor": ${JSON.stringify(name)}}`) as object,
  ];
  const row = {
    ...results[0]!,
    row_id: `a0000000-0000-4000-8000-00000000000${n}`,
    inputs: { question: `${n} ${EVIL}` },
    expected_outputs: { answer: `reference ${EVIL}` },
    actual_outputs: outputs[n % outputs.length],
    run_name: `run ${EVIL}`,
    run_metadata: { [EVIL]: EVIL },
    evaluation_scores: [
      ...(score === undefined ? [] : [{ key: 'correct', score, comment: EVIL }]),
      { key: `cost ${EVIL}`, score: n / 10 + (score ?? 0) },
      { key: 'tone', value: score === 1 ? 'friendly' : `value ${EVIL}` },
    ],
    ...(n === 5 && name.startsWith('second') && { error: `TimeoutError ${EVIL}` }),
  };
  return { body, row };
}

async function fillExperiments(ask: Ask, canaries: Canaries) {
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const experiments: string[] = [];
  let dataset: string | undefined;
  for (const [at, name] of ['first', 'second', 'third'].entries()) {
    const rows = [1, 2, 3, 4, 5, 6]
      .slice(at === 2 ? 1 : 0)
      .map((n) => rowOf(n, name, n === 4 ? undefined : (n + at) % 2));
    const sent = {
      ...rows[0]!.body,
      experiment_name: `${name} ${EVIL}`.padEnd(300, ' long'),
      experiment_description: EVIL,
      experiment_metadata: { model: `model ${at} ${EVIL}`, [`key ${EVIL}`]: at },
      ...(dataset === undefined
        ? { dataset_name: `questions ${EVIL}`, dataset_description: EVIL }
        : { dataset_name: undefined, dataset_id: dataset }),
      results: rows.map(({ row }) => row),
    };
    const answer: Uploaded = await ask('POST', '/api/v1/datasets/upload-experiment', sent);
    dataset = answer.dataset.id;
    experiments.push(answer.experiment.id);
  }
  const run = await askUntil(async () => {
    type Runs = { runs: { id: string }[] };
    return (await ask<Runs>('POST', '/api/v1/runs/query', { session: [experiments[0]] })).runs[0]?.id;
  });
  const { id: project } = await ask<{ id: string }>('POST', '/api/v1/sessions', { name: `project ${EVIL}` });
  const kept = { id: crypto.randomUUID(), session_id: project, run_type: EVIL, start_time: '2026-01-01T00:00:01Z' };
  await ask('POST', '/api/v1/runs/batch', {
    post: [
      { ...kept, name: '' },
      { ...kept, name: EVIL, id: EVIL },
    ],
  });
  type Token = { share_token: string };
  const { share_token: datasetToken } = await ask<Token>('PUT', `/api/v1/datasets/${dataset}/share`, {});
  const { share_token: runToken } = await ask<Token>('PUT', `/api/v1/runs/${run}/share`, {});
  const { token: linkToken } = await ask<{ token: string }>('POST', '/v1/shares', {
    kind: 'comparison',
    dataset_id: dataset,
    experiments,
  });
  canaries.watch('token of a shared dataset', datasetToken);
  canaries.watch('token of a shared run', runToken);
  canaries.watch('token of a link', linkToken);
  const example = 'a0000000-0000-4000-8000-000000000005';
  return { dataset: dataset!, experiments, example, run, project, datasetToken, runToken, linkToken };
}

async function fillDeployments(ask: Ask, canaries: Canaries) {
  type Deployment = { id: string; latest_revision_id: string };
  const rolledOut = async (id: string) => {
    const { latest_revision_id: revision } = await ask<Deployment>('GET', `/v2/deployments/${id}`);
    await until(
      () => ask<{ status: string }>('GET', `/v2/deployments/${id}/revisions/${revision}/wait?timeout=60`),
      ({ status }) => /DEPLOYED|FAILED/.test(status),
    );
    return revision;
  };
  const change = async (id: string, body: object) => {
    await rolledOut(id);
    await ask('PATCH', `/v2/deployments/${id}`, body, reason());
  };
  const image = (image_uri: string) => ({ source_revision_config: { image_uri } });
  const { id } = await ask<Deployment>('POST', '/v2/deployments', {
    ...newDeployment('hostile'),
    name: `deployment ${EVIL}`,
    secrets: [
      { name: 'TOKEN', value: canaries.plant('first secret of a deployment') },
      { name: 'REMOVED', value: canaries.plant('removed secret of a deployment') },
    ],
  });
  await change(id, {
    ...image('registry.example/hostile:2'),
    secrets: [
      { name: 'TOKEN', value: canaries.plant('secret of a deployment') },
      { name: 'OTHER', value: canaries.plant('other secret of a deployment') },
    ],
  });
  await change(id, image('registry.example/bad:3'));
  await change(id, image('registry.example/hostile:4'));
  await rolledOut(id);
  const gone = await ask<Deployment>('POST', '/v2/deployments', {
    ...newDeployment('gone'),
    secrets: [{ name: 'TOKEN', value: canaries.plant('secret of a deleted deployment') }],
  });
  await rolledOut(gone.id);
  await ask('DELETE', `/v2/deployments/${gone.id}`, undefined, reason());
  const slow = await ask<Deployment>('POST', '/v2/deployments', {
    ...newDeployment('slow'),
    secrets: [{ name: 'TOKEN', value: canaries.plant('secret of a deployment under way') }],
  });
  return { deployment: id, slow: slow.id, slowRevision: slow.latest_revision_id };
}

/** A provider whose client secret was replaced, and a user's token from it. */
async function fillProvider(installation: Installation, outside: Outside, canaries: Canaries): Promise<void> {
  const { id } = await installation.ask('POST', '/v2/auth/providers', {
    provider_id: 'hostile',
    name: `provider ${EVIL}`,
    client_id: EVIL,
    client_secret: canaries.plant('first secret of an OAuth client'),
    auth_url: `https://login.example/authorize?${encodeURIComponent(EVIL)}`,
    token_url: `${outside.url}/token`,
  });
  await installation.ask('PATCH', `/v2/auth/providers/hostile`, {
    client_secret: canaries.plant('secret of an OAuth client'),
  });
  const asked = { provider: id, scopes: [], user_id: EVIL, agent_id: 'hostile' };
  const { url } = await installation.ask('POST', '/v2/auth/authenticate', asked);
  const opened = await fetch(url, { redirect: 'manual' });
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
  const state = new URL(url).searchParams.get('state')!;
  await installation.ask('GET', `/v2/auth/callback/${id}?code=code&state=${state}`, undefined, { cookie });
}

async function fillKeys(installation: Installation, ask: Ask, canaries: Canaries): Promise<void> {
  canaries.watch('key of the operator', OPERATOR);
  const newKey = async (name: string, scopes: readonly string[]) => {
    const { id, key } = await ask<{ id: string; key: string }>('POST', '/api/v1/api-key', {
      description: `${name} ${EVIL}`,
      scopes,
    });
    canaries.watch(name, key);
    return { id, key };
  };
  await newKey('key that may everything', ['admin', 'secrets:read', 'tokens:read']);
  const revoked = await newKey('revoked key', ['read']);
  await ask('DELETE', `/api/v1/api-key/${revoked.id}`);
  await newKey('key that reads', ['read']);
  // Somebody who is refused, with a key that nobody has.
  const wrong = canaries.plant('wrong key');
  await installation.send('GET', '/v2/deployments', undefined, { 'x-api-key': wrong });
}
