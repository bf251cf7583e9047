import { gzipSync } from 'node:zlib';
import type { Route } from '@fairlead/api';
import { OPERATOR } from '@fairlead/service/testing';
import { comparedSources } from './compared-sources';
import { askUntil, type RouteService } from '../route-service';
import {
  CONSOLE_PAGE,
  details,
  fillTenant,
  type Ids,
  newDeployment,
  newGate,
  newProvider,
  type Things,
  upload,
  WEBHOOK_SECRET,
} from '../tenant-things';

/** A request to a route, as it is sent. */
export interface Sent {
  readonly route: Route;
  readonly path: string;
  readonly key: string;
  readonly body?: RequestInit['body'];
  readonly headers: Readonly<Record<string, string>>;
  /** It is answered with an error of a kind of its own. */
  readonly refused: boolean;
}

/** Differences of a request from the one in `details`: `things` to take ids from, its path, its body. */
interface Special {
  readonly ids?: Ids;
  readonly search?: string;
  readonly body?: object;
  readonly bytes?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly refused?: boolean;
}

/** Requests of one tenant that succeed, at least one for every route. */
export class Successes {
  private constructor(
    private readonly service: RouteService,
    private readonly key: string,
    private readonly things: Things,
    private readonly specials: Readonly<Record<string, readonly Special[]>>,
  ) {}

  /** Makes what the requests need. `hasCommands`: the executor, which must be one of this process, answers commands. */
  static async prepare(service: RouteService, hasCommands = true): Promise<Successes> {
    const key = await service.newTenant('tenant');
    // First, because the revisions of the other deployments take all places of rollouts and keep them.
    const held = await heldRevision(service, key);
    const things = await fillTenant(service, key, 'kept');
    const spare = await fillTenant(service, key, 'spare');
    return new Successes(service, key, things, await specials(service, key, things, { spare, held }, hasCommands));
  }

  /** Requests to send to a route. @throws Error when a path parameter is not known */
  requestsTo(route: Route): Sent[] {
    const name = `${route.method} ${route.path}`;
    const { search: usual = '', body: json } = details(this.things, 'made', this.service)[name] ?? {};
    return (this.specials[name] ?? [{}]).map((special) => {
      const ids = { ...this.things.ids, file: 'page.css', ...special.ids };
      const path = route.path.replaceAll(/:(\w+)/g, (_, parameter: string) => {
        const id = ids[parameter as keyof typeof ids];
        if (!id) throw new Error(`${name}: say in tenant-things.ts which id stands for ${parameter}.`);
        return id;
      });
      const sent = special.body ?? json ?? (['GET', 'DELETE'].includes(route.method) ? undefined : {});
      const body = special.bytes ?? (sent && JSON.stringify(sent));
      return {
        route,
        path: path + (special.search ?? usual),
        key: special.key ?? this.key,
        refused: special.refused ?? false,
        ...(body !== undefined && { body }),
        headers: {
          ...(special.bytes === undefined && sent && { 'content-type': 'application/json' }),
          ...special.headers,
        },
      };
    });
  }

  /** All routes: what reads, what writes, what deletes, of that the parts before the whole. */
  inOrder(): Route[] {
    const rank = ({ method, path }: Route) => (method === 'DELETE' ? 1000 - path.length : method === 'GET' ? 0 : 1);
    const byPath = (a: Route, b: Route) => a.path.localeCompare(b.path) * (a.method === 'DELETE' ? -1 : 1);
    return [...this.service.table].sort((a, b) => rank(a) - rank(b) || byPath(a, b));
  }
}

/** A revision that an experiment names. */
const EVALUATED = crypto.randomUUID();

async function specials(
  service: RouteService,
  key: string,
  { ids, pendingState }: Things,
  { spare, held }: { readonly spare: Things; readonly held: Ids },
  hasCommands: boolean,
): Promise<Record<string, readonly Special[]>> {
  const ask = <T>(method: string, path: string, body?: object) => service.ask<T>(method, path, key, body);
  const { dataset_id, session_id } = ids;
  const second = await secondExperiment(service, key, ids);
  const filled = await filledExperiment(service, key);
  const pushed = await ask<{ id: string }>('POST', '/v2/deployments', {
    ...newDeployment('pushed'),
    source: 'internal_container',
    source_revision_config: {},
  });
  const controlled = await ask<{ id: string }>('POST', '/v2/deployments', {
    ...newDeployment('controlled'),
    source: 'internal_container',
    source_revision_config: {},
  });
  await service.deployedBy('kubernetes', controlled.id);
  const commanded = await ask<{ id: string }>('POST', '/v2/deployments', newDeployment('commanded'));
  if (hasCommands) await service.takesCommands(commanded.id);
  // Changes of the shared deployment replace its revisions, which have ended then.
  const waiting = await ask<{ id: string; latest_revision_id: string }>(
    'POST',
    '/v2/deployments',
    newDeployment('waiting'),
  );
  const built = await ask<{ id: string; latest_revision_id: string }>('POST', '/v2/deployments', {
    ...newDeployment('built'),
    source: 'codehost',
    source_config: { integration_id: ids.integration_id, repo_url: `${service.outside.url}/team/agent` },
    source_revision_config: { repo_ref: 'main' },
  });
  await service.resolvedCommit(built.id, built.latest_revision_id);
  const revision = built.latest_revision_id;
  const control = [{ ids: { deployment_id: controlled.id } }];
  const sources = [{ ids: await comparedSources(service, key) }];
  const { upload_url } = await ask<{ upload_url: string }>('POST', `/v2/deployments/${pushed.id}/upload-url`);
  const signed = new URL(upload_url);
  const otherKey = await ask<{ id: string }>('POST', '/api/v1/api-key', {});
  await ask('POST', '/v2/auth/providers', newProvider('doomed', service.outside.url));
  const both = `?experiments=${session_id},${second}`;
  const live = { id: crypto.randomUUID(), name: 'to be changed' };
  await ask('POST', '/api/v1/runs', live);
  const parts = new FormData();
  parts.append(`post.${crypto.randomUUID()}`, '{"id":"' + crypto.randomUUID() + '","name":"in parts"}');
  const withAttachment = crypto.randomUUID();
  const attached = new FormData();
  attached.append(`post.${withAttachment}`, JSON.stringify({ id: withAttachment, name: 'with an attachment' }));
  attached.append(`attachment.${withAttachment}.note`, 'a note');
  const headers = { 'x-api-key': key };
  await fetch(`${service.url}/api/v1/runs/multipart`, { method: 'POST', headers, body: attached });
  type Attached = { s3_urls: Record<string, { presigned_url: string }>; session_id: string };
  const { s3_urls, session_id: itsSession } = await ask<Attached>('GET', `/api/v1/runs/${withAttachment}`);
  const attachment = new URL(s3_urls['attachment.note']!.presigned_url);
  const { own_dataset_id, own_example_id } = ids;
  const own = { ids: { dataset_id: own_dataset_id!, example_id: own_example_id! } };
  const csv = new FormData();
  csv.append('file', new Blob(['q,a\n1,2\n'], { type: 'text/csv' }), 'from-csv.csv');
  for (const [field, column] of Object.entries({ input_keys: 'q', output_keys: 'a' })) csv.append(field, column);
  const exampleId = crypto.randomUUID();
  const newExample = new FormData();
  newExample.append(exampleId, '{}');
  newExample.append(`${exampleId}.inputs`, '{"q":1}');
  newExample.append(`${exampleId}.attachment.note`, new Blob(['a note']));
  const examplesPath = `/api/v1/platform/datasets/${own_dataset_id}/examples`;
  await fetch(`${service.url}${examplesPath}`, { method: 'POST', headers, body: newExample });
  type WithUrls = { attachment_urls: Record<string, { presigned_url: string }> };
  const { attachment_urls } = await ask<WithUrls>('GET', `/api/v1/examples/${exampleId}`);
  const exampleAttachment = new URL(attachment_urls['attachment.note']!.presigned_url);
  const changedExample = new FormData();
  changedExample.append(`${exampleId}.inputs`, '{"q":2}');
  const ended = await ask<{ id: string }[]>('POST', '/api/v1/examples/bulk', [
    ...[1, 2, 3].map((q) => ({ dataset_id: own_dataset_id, inputs: { q } })),
  ]);
  const push = {
    ref: 'refs/heads/main',
    after: 'a'.repeat(40),
    project: { web_url: `${service.outside.url}/team/agent` },
  };
  const fromGitLab = { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': WEBHOOK_SECRET };
  const webhookPath = `/v1/integrations/${ids.integration_id}/webhook`;
  const other = { ...push, ref: 'refs/heads/other' };
  const taken = await service.ask<{ delivery_id: string }>('POST', webhookPath, '', other, fromGitLab);
  const delivered = [{ ids: { delivery_id: taken.delivery_id } }];
  const revision_id = crypto.randomUUID();
  await service.database.pool.query(
    `insert into verdict_reports (tenant_id, revision_id, deployment_id, integration_id, status, name, repository)
     select tenant_id, $1, $1, id, 'sent', 'agent', 'https://git.example/team/agent' from integrations where id = $2`,
    [revision_id, ids.integration_id],
  );
  const parked = [{ key: OPERATOR, ids: { parked_subject_id: await service.parkedSubject() } }];
  const doomed = await service.ask<{ id: string }>('POST', '/api/v1/workspaces', OPERATOR, { display_name: 'doomed' });
  const workspace = [{ key: OPERATOR, ids: { workspace_id: doomed.id } }];
  const signedIn = await service.request('POST', '/v1/console/session', '', { api_key: key }, CONSOLE_PAGE);
  const session = { ...CONSOLE_PAGE, cookie: signedIn.headers.get('set-cookie')!.split(';')[0]! };
  return {
    'POST /v1/console/session': [{ key: '', body: { api_key: key }, headers: CONSOLE_PAGE }],
    'GET /v1/console/session': [{}, { key: '', headers: session }],
    'DELETE /v1/console/session': [{ key: '', headers: session }],
    'DELETE /v1/console/sessions/:console_session_id': [{ ids: spare.ids }],
    'DELETE /v1/shares/:share_id': [{ ids: spare.ids }],
    // A monitor ends with its session, which is deleted before.
    'DELETE /v1/monitors/:monitor_id': [{ ids: spare.ids }],
    'POST /api/v1/workspaces/:workspace_id/suspend': workspace,
    'POST /api/v1/workspaces/:workspace_id/resume': workspace,
    'DELETE /api/v1/workspaces/:workspace_id': workspace,
    'GET /v1/parked-subjects': parked,
    'GET /v1/parked-subjects/:parked_subject_id': parked,
    'POST /v1/parked-subjects/:parked_subject_id/retry': parked,
    'POST /api/v1/workspaces': [{ key: OPERATOR }],
    'GET /api/v1/workspaces': [{}, { key: OPERATOR }],
    'GET /api/v1/api-key/current': [{}, { key: OPERATOR }],
    'DELETE /api/v1/api-key/:id': [{ ids: { id: otherKey.id } }],
    'GET /v2/deployments/:deployment_id': [
      ...[{}, { search: '?include_secrets=true' }, { search: '?include=standing' }],
    ],
    'DELETE /v2/deployments': [{ search: `?deployment_ids=${spare.ids.deployment_id},${crypto.randomUUID()}` }],
    'POST /v2/deployments/:deployment_id/revisions/:revision_id/interrupt': [
      { ids: { deployment_id: waiting.id, revision_id: waiting.latest_revision_id } },
    ],
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/verdict': [{ ids: held }],
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/verdict/repeat': [{ ids: held }],
    'POST /v2/deployments/:deployment_id/revisions/:revision_id/override': [
      { ids: held, headers: { 'x-reason': 'The judge was wrong.' } },
    ],
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/files': sources,
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/files/content': sources,
    'POST /v2/deployments/:deployment_id/commands': [
      { ids: { deployment_id: commanded.id }, body: { command: ['true'] } },
    ],
    'GET /v2/deployments/:deployment_id/revisions/:revision_id/diff/:other_id/commits': [
      { ids: { deployment_id: built.id, revision_id: revision, other_id: revision } },
    ],
    'POST /v2/deployments/:deployment_id/restart': control,
    'POST /v2/deployments/:deployment_id/start': control,
    'POST /v2/deployments/:deployment_id/stop': control,
    'POST /v2/deployments/:deployment_id/push-token': [{ ids: { deployment_id: pushed.id } }],
    'PUT /v2/deployments/:deployment_id/uploads/:upload_id': [
      {
        ids: { deployment_id: pushed.id, upload_id: signed.pathname.split('/').at(-1)! },
        search: signed.search,
        bytes: gzipSync('a tarball'),
        headers: { 'content-type': 'application/gzip' },
      },
    ],
    'POST /api/v1/datasets/upload': [{ bytes: csv }],
    'PATCH /api/v1/datasets/:dataset_id': [own],
    'PUT /api/v1/datasets/:dataset_id/tags': [own],
    'PUT /api/v1/datasets/:dataset_id/splits': [own],
    'GET /api/v1/datasets/:dataset_id/versions/diff': [own],
    'POST /api/v1/platform/datasets/:dataset_id/examples': [{ ...own, bytes: newExample }],
    'PATCH /api/v1/platform/datasets/:dataset_id/examples': [{ ...own, bytes: changedExample }],
    'PATCH /api/v1/platform/datasets/:dataset_id/examples/metadata': [own],
    'PATCH /api/v1/examples/:example_id': [own],
    'POST /api/v1/platform/datasets/examples/delete': [{ body: { example_ids: [ended[2]!.id] } }],
    'DELETE /api/v1/examples': [{ search: `?example_ids=${ended[0]!.id}` }],
    'DELETE /api/v1/examples/:example_id': [{ ids: { example_id: ended[1]!.id } }],
    'GET /api/v1/examples/:example_id/attachment': [
      { ids: { example_id: exampleId }, search: exampleAttachment.search },
    ],
    'GET /api/v1/runs/:run_id/attachment': [{ ids: { run_id: withAttachment }, search: attachment.search }],
    'DELETE /api/v1/runs/:run_id/share': [{ ids: { run_id: withAttachment } }],
    'DELETE /v2/runs/:run_id/share': [{ ids: { run_id: withAttachment }, body: { session_id: itsSession } }],
    'GET /v1/webhooks/:webhook_id': [{}, { search: '?include_secrets=true' }],
    'POST /v1/integrations/:integration_id/webhook': [{ body: push, headers: fromGitLab }],
    'GET /v1/integrations/:integration_id/deliveries/:delivery_id': delivered,
    'POST /v1/integrations/:integration_id/deliveries/:delivery_id/retry': delivered,
    'POST /v1/integrations/:integration_id/reports/:revision_id/retry': [{ ids: { revision_id } }],
    'POST /v2/auth/providers/mcp-discover': [
      { body: { provider_id: 'discovered', name: 'discovered', mcp_server_url: service.outside.url } },
    ],
    'GET /v2/auth/start': [
      { search: `?state=${pendingState}` },
      { search: '?state=unknown', headers: { accept: 'text/html' }, refused: true },
    ],
    'GET /v2/auth/callback/:provider_id': [
      {
        ids: spare.ids,
        search: `?code=code&state=${spare.pendingState}`,
        headers: { cookie: spare.pendingCookie },
      },
      { search: '?error=access_denied', headers: { accept: 'text/html' }, refused: true },
    ],
    'GET /v2/auth/wait/:auth_id': [{}, { ids: spare.ids }],
    'DELETE /v2/auth/providers/:provider_id': [{ ids: { provider_id: 'doomed' } }],
    'DELETE /v2/auth/tokens': [{ search: `?provider_id=${spare.ids.provider_id}` }],
    'GET /api/v1/datasets/:dataset_id/compare': [
      { search: both },
      { search: `${both}&format=summary` },
      { search: `${both}&slice=inputs.a%3Db` },
    ],
    'GET /api/v1/datasets/:dataset_id/compare/report': [{ search: both }],
    'GET /api/v1/datasets/:dataset_id/compare/slices': [
      ...[{ search: both }, { search: `${both}&by=inputs.topic` }, { search: `${both}&measures=cost&measures=tokens` }],
    ],
    'GET /api/v1/datasets/:dataset_id/trend': [{ search: '?key=correct' }, { search: '?measure=tokens' }],
    'GET /api/v1/revisions/scores': [{ search: `?revision_ids=${EVALUATED}` }],
    'GET /api/v1/revisions/trend': [{ search: `?revision_ids=${EVALUATED}&dataset_id=${dataset_id}&key=correct` }],
    'GET /api/v1/datasets/:dataset_id/compare/distributions': [{ search: `${both}&key=correct` }],
    'GET /api/v1/datasets/:dataset_id/compare/rows/:example_id': [{ search: both }],
    'GET /api/v1/datasets/:dataset_id/compare/export': [{ search: both }, { search: `${both}&format=jsonl` }],
    'POST /api/v1/datasets/:dataset_id/compare/gate': [{ body: { baseline: session_id, experiments: [second] } }],
    'POST /api/v1/datasets/:dataset_id/runs': [
      {},
      { body: { session_ids: [session_id], preview: true } },
      { search: '?format=csv' },
    ],
    'POST /api/v1/datasets/:dataset_id/runs/delta': [
      { body: { baseline_session_id: session_id, comparison_session_ids: [second], feedback_key: 'correct' } },
    ],
    // An uploaded run stays as it is.
    'PATCH /api/v1/runs/:run_id': [{ ids: { run_id: live.id } }],
    'POST /api/v1/runs': [{ body: { id: crypto.randomUUID(), name: 'alone' } }],
    // A deployment that is made has a session of its name.
    'POST /api/v1/sessions': [{ body: { name: 'made by hand' } }],
    'POST /api/v1/runs/batch': [{ body: { post: [{ id: crypto.randomUUID(), name: 'in a batch' }] } }],
    'POST /api/v1/runs/multipart': [{ bytes: parts }],
    'POST /v2/runs/query': [
      {
        body: { project_ids: [session_id], selects: ['ID', 'INPUTS', 'OUTPUTS', 'LATENCY_SECONDS', 'FEEDBACK_STATS'] },
      },
    ],
    'GET /v1/search': [{ search: '?q=kept' }],
    'GET /v1/experiments/:experiment_id/replaced-runs': [{ ids: filled.ids }],
    'GET /api/v1/runs/:run_id': [{}, { ids: filled.ids }],
    'POST /api/v1/datasets/upload-experiment': [{}, { search: `?into=${filled.ids.experiment_id}`, body: filled.fill }],
    'GET /api/v1/datasets': [{}, { search: '?count=true' }],
    'GET /v2/deployments': [{}, { search: '?count=true' }],
    'GET /api/v1/sessions': [{ search: `?reference_dataset=${dataset_id}` }, {}],
  };
}

/** A revision that gates hold, each with another kind of baseline, and that has evidence of one row. */
async function heldRevision(service: RouteService, key: string): Promise<Ids> {
  type Made = { id: string; latest_revision_id: string };
  type Uploaded = { dataset: { id: string }; experiment: { id: string } };
  const evaluate = (name: string, more: object = {}) =>
    service.ask<Uploaded>('POST', '/api/v1/datasets/upload-experiment', key, { ...upload(name), ...more });
  const { dataset, experiment } = await evaluate('held questions');
  const baselines = ['active', { experiment_id: experiment.id }, { branch: 'main' }];
  const slices = [{ by: 'inputs.question', keys: { correct: { min_mean: 0.5 } } }];
  const gates = baselines.map((baseline, index) => ({
    ...newGate(`gate ${index}`, dataset.id, baseline),
    ...{ slices, max_age_days: 3650 },
  }));
  const wanted = { ...newDeployment('held'), source_config: { gates } };
  const { id, latest_revision_id: revision_id } = await service.ask<Made>('POST', '/v2/deployments', key, wanted);
  await evaluate('held answers', { dataset_name: 'held questions', experiment_metadata: { revision_id } });
  await askUntil(async () => {
    const { status, text } = await service.send('GET', `/v2/deployments/${id}/revisions/${revision_id}/verdict`, key);
    return status === 200 && text.includes('of 30 rows are there') ? status : undefined;
  });
  return { deployment_id: id, revision_id };
}

/** Another experiment on the dataset, to compare the first one with. */
async function secondExperiment(service: RouteService, key: string, { dataset_id }: Ids): Promise<string> {
  type Uploaded = { experiment: { id: string } };
  const of = { experiment_metadata: { revision_id: EVALUATED }, dataset_name: undefined, dataset_id };
  const body = { ...upload('second'), ...of };
  const { experiment } = await service.ask<Uploaded>('POST', '/api/v1/datasets/upload-experiment', key, body);
  return askUntil(async () => {
    const { run_count } = await service.ask<{ run_count: number | null }>(
      'GET',
      `/api/v1/sessions/${experiment.id}`,
      key,
    );
    return run_count === null ? undefined : experiment.id;
  });
}

/** An experiment that was filled, the run that was replaced, and the body of the fill. */
async function filledExperiment(service: RouteService, key: string) {
  const path = '/api/v1/datasets/upload-experiment';
  const fill = { ...upload('filled'), summary_experiment_scores: undefined };
  const results = fill.results.map((row) => ({ ...row, error: 'It broke.' }));
  type Uploaded = { experiment: { id: string } };
  const { experiment } = await service.ask<Uploaded>('POST', path, key, { ...fill, results });
  await service.ask('POST', `${path}?into=${experiment.id}`, key, fill);
  const replaced = await askUntil(async () => {
    type Replaced = { resources: { id: string }[] };
    const { resources } = await service.ask<Replaced>('GET', `/v1/experiments/${experiment.id}/replaced-runs`, key);
    return resources[0];
  });
  return { ids: { experiment_id: experiment.id, run_id: replaced.id }, fill };
}
