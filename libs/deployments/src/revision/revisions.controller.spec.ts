import { fold, handle, owned, type Recorded, streamName } from '@fairlead/eventing';
import { TENANT } from '@fairlead/edge/testing';
import { deploymentAggregate, deploymentModel } from '../model/deployment';
import type { RevisionStatus } from '@fairlead/contracts';
import type { DeploymentEvent } from '../model/deployment-events';
import { redeploy, reportRevision, revisionOf, revisionsModel } from '../model/revision';
import { uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
let count = 0;
beforeAll(async () => (service = await TestService.start()));
afterAll(() => service.stop());

const at = (id: string, rest = '') => `/v2/deployments/${id}/revisions${rest}`;
const send: TestService['send'] = (...request) => service.send(...request);
const patch = (id: string, body: object) => send('PATCH', `/v2/deployments/${id}`, { body });
const report = (id: string, revisionId: string, status: RevisionStatus, executor?: string) => {
  const decide = owned(deploymentAggregate, TENANT, id, reportRevision(revisionId, status, executor));
  return handle(service.store, deploymentModel, streamName('deployment', id), decide, { tenant: TENANT });
};
const revisionsIn = async (id: string) =>
  fold(revisionsModel, (await service.store.read(streamName('deployment', id))) as Recorded<DeploymentEvent>[]);
const deployed = () =>
  service.ready({
    name: `agent-${++count}`,
    source: 'internal_container',
    source_config: { resource_spec: { cpu: 1 } },
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [{ name: 'TOKEN', value: 'one' }],
  });

describe('revisions', () => {
  it('are read with an entity tag of their own, which a status changes and If-Match never takes', async () => {
    const { id, latest_revision_id: revision } = await deployed();
    for (const url of [at(id), at(id, `/${revision}`)]) {
      const { headers } = await send('GET', url);
      const known = { headers: { 'if-none-match': String(headers.etag) } };
      expect(headers.etag).toMatch(/^W\//);
      expect(await send('GET', url, known)).toMatchObject({ status: 304, text: '' });
      const { status } = await send('POST', at(id, `/${revision}/redeploy`), {
        headers: { 'if-match': String(headers.etag) },
      });
      expect(status).toBe(412);
    }
    const before = await Promise.all([at(id), at(id, `/${revision}`)].map((url) => send('GET', url)));
    const { json: changed } = await send('POST', at(id, `/${revision}/redeploy`));
    await report(id, changed.latest_revision_id, 'DEPLOYING');
    const url = at(id, `/${changed.latest_revision_id}`);
    const { headers } = await service.eventually(
      () => send('GET', url),
      ({ json }) => json.status === 'DEPLOYING',
    );
    const list = await send('GET', at(id), { headers: { 'if-none-match': String(before[0]!.headers.etag) } });
    expect(list).toMatchObject({ status: 200, json: { resources: [{ status: 'DEPLOYING' }, {}] } });
    await report(id, changed.latest_revision_id, 'DEPLOYED');
    const after = await service.eventually(
      () => send('GET', url, { headers: { 'if-none-match': String(headers.etag) } }),
      ({ status }) => status !== 304,
    );
    expect(after).toMatchObject({ status: 200, json: { status: 'DEPLOYED' } });
  });

  it('are listed newest first, paged, with exactly six members', async () => {
    const { id, latest_revision_id: first } = await deployed();
    const { json: patched } = await patch(id, { source_revision_config: { image_uri: 'registry.example/agent:2' } });
    const second = patched.latest_revision_id;
    const { json } = await send('GET', at(id));
    expect(json.offset).toBe(2);
    expect(json.resources.map((revision: { id: string }) => revision.id)).toEqual([second, first]);
    expect(json.resources[0]).toEqual({
      id: second,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      status: 'QUEUED',
      source: 'internal_container',
      source_revision_config: {
        repo_ref: null,
        graph_config_path: null,
        image_uri: 'registry.example/agent:2',
        source_tarball_path: null,
        repo_commit_sha: null,
      },
    });
    const page = await send('GET', at(id, '?limit=1'));
    expect(page.json).toMatchObject({ resources: [{ id: second }], offset: 1 });
    expect(page.headers.link).toBe(`<${at(id)}?limit=1&offset=1>; rel="next"`);
    expect((await send('GET', at(id, '?limit=1&offset=1'))).json).toMatchObject({
      resources: [{ id: first }],
      offset: 2,
    });
    expect((await send('GET', at(id, `/${first}`))).json).toEqual(json.resources[1]);
    expect((await send('GET', `/api-host${at(id, `/${first}`)}`)).json.source).toBe('internal_docker');
  });

  it('tell with include=cause who made them, why, and when they ran', async () => {
    const { id, latest_revision_id: first } = await deployed();
    const key = uuidOf(78);
    const named = { type: 'ApiKeyCreated', data: { id: key, description: 'release pipeline' } };
    await service.store.append(streamName('apiKey', key), 0, [named], {});
    await report(id, first, 'DEPLOYED');
    const headers = { 'x-reason': 'faster' };
    const body = { source_revision_config: { image_uri: 'registry.example/agent:2' } };
    const second = (await send('PATCH', `/v2/deployments/${id}`, { body, headers })).json.latest_revision_id;
    await report(id, second, 'BUILD_FAILED');
    const decide = redeploy(revisionOf(await revisionsIn(id), first), uuidOf(79), 'any');
    const own = owned(deploymentAggregate, TENANT, id, decide);
    const metadata = { tenant: TENANT, actor: key };
    await handle(service.store, deploymentModel, streamName('deployment', id), own, metadata);
    await report(id, uuidOf(79), 'DEPLOYED', 'record');
    const { json } = await service.eventually(
      () => send('GET', at(id, '?include=cause')),
      (answer) => answer.json.resources[0].status === 'DEPLOYED',
    );
    const time = expect.stringMatching(/Z$/);
    const nobody = { reason: null, actor: 'writer', actor_name: null, redeployed_from: null };
    expect(json.resources).toMatchObject([
      {
        ...{ number: 3, reason: null, actor: key, actor_name: 'release pipeline', redeployed_from: first },
        ...{ executor: 'record', activated_at: time, ended_at: null, healthy_seconds: expect.any(Number) },
      },
      { ...nobody, number: 2, reason: 'faster', activated_at: null, ended_at: time, healthy_seconds: null },
      { ...nobody, number: 1, executor: null, activated_at: time, ended_at: json.resources[0].activated_at },
    ]);
    expect((await send('GET', at(id, '?include=all'))).status).toBe(422);
  });

  it('are named in the sentence about their deployment, in lists and by itself', async () => {
    const { id, latest_revision_id: first } = await deployed();
    await report(id, first, 'DEPLOYED');
    const { json: patched } = await patch(id, { source_revision_config: { image_uri: 'registry.example/agent:2' } });
    await report(id, patched.latest_revision_id, 'BUILD_FAILED');
    const url = `/v2/deployments/${id}?include=standing`;
    const { json } = await service.eventually(
      () => send('GET', url),
      (answer) => answer.json.standing.tone === 'bad',
    );
    const config = { source_revision_config: { image_uri: 'registry.example/agent:1' } };
    expect(json.standing).toMatchObject({
      text: 'Live, v1; v2: build failed',
      live: { id: first, number: 1, status: 'DEPLOYED', ...config },
      latest: { id: patched.latest_revision_id, number: 2, status: 'BUILD_FAILED' },
    });
    const list = await send('GET', `/v2/deployments?include=standing&deployment_ids=${id}`);
    expect(list.json.resources).toEqual([json]);
    expect((await send('GET', `/v2/deployments/${id}`)).json).not.toHaveProperty('standing');
    expect((await send('GET', `${url}&version=1`)).status).toBe(400);
  });

  it('are filtered by any of several statuses', async () => {
    const { id, latest_revision_id: first } = await deployed();
    await report(id, first, 'BUILDING');
    await patch(id, { secrets: [] });
    const statuses = async (status: string) => {
      const { json } = await send('GET', at(id, `?status=${status}`));
      return json.resources.map((revision: { status: string }) => revision.status);
    };
    expect(await statuses('QUEUED')).toEqual(['QUEUED']);
    expect(await statuses('QUEUED,BUILDING')).toEqual(['QUEUED', 'BUILDING']);
    expect(await statuses('NONSENSE')).toEqual([]);
  });

  it('that do not exist are not found', async () => {
    const { id } = await deployed();
    const missing = { status: 404, json: { detail: `Revision ID ${uuidOf(404)} not found.` } };
    expect(await send('GET', at(id, `/${uuidOf(404)}`))).toMatchObject(missing);
    expect(await send('POST', at(id, `/${uuidOf(404)}/redeploy`))).toMatchObject(missing);
    expect(await send('POST', at(id, `/${uuidOf(404)}/interrupt`))).toMatchObject(missing);
    expect((await send('GET', at(id, '/x'))).json.detail[0].loc).toEqual(['path', 'revision_id']);
    expect((await send('GET', at(uuidOf(404)))).json.detail).toBe(`Deployment ID ${uuidOf(404)} not found.`);
  });
});

describe('what runs', () => {
  it('is stopped, started and restarted, as the history tells, where its executor can do that', async () => {
    const { id, latest_revision_id: revision } = await deployed();
    const ask = (action: string, sent = {}) => send('POST', `/v2/deployments/${id}/${action}`, sent);
    const detail = `Deployment ID ${id} cannot be stopped: no revision of it has been deployed.`;
    const refused = await ask('stop');
    expect(refused).toMatchObject({ status: 409, json: { detail }, headers: { 'x-should-retry': 'false' } });
    await report(id, revision, 'DEPLOYED', 'kubernetes');
    const stopped = await ask('stop', { headers: { 'x-reason': 'saving', 'if-match': '"2"' } });
    expect(stopped).toMatchObject({ status: 200, json: { id, stopped: true }, headers: { etag: '"3"' } });
    expect((await send('GET', `/v2/deployments/${id}`)).json.stopped).toBe(true);
    expect((await ask('restart')).json.detail).toMatch(/it is stopped; start it instead\.$/);
    expect((await ask('start', { headers: { 'if-match': '"2"' } })).status).toBe(412);
    expect((await ask('start')).json).not.toHaveProperty('stopped');
    expect((await ask('restart')).status).toBe(200);
    const { json } = await send('GET', `/v2/deployments/${id}/history?order=desc&limit=3`);
    const change = { member: 'stopped', before: null, after: true };
    expect(json.resources).toMatchObject([
      { type: 'DeploymentRestartRequested', changes: [] },
      { type: 'DeploymentStartRequested', changes: [{ ...change, before: true, after: null }] },
      { type: 'DeploymentStopRequested', reason: 'saving', changes: [change] },
    ]);
    expect((await send('POST', `/v2/deployments/${uuidOf(404)}/stop`)).status).toBe(404);
  });
});

describe('redeploy', () => {
  it('rolls back to the whole snapshot of an earlier revision', async () => {
    const first = await deployed();
    const { id } = first;
    await patch(id, { source_config: { resource_spec: { cpu: 4 } } });
    await patch(id, {
      source_revision_config: { image_uri: 'registry.example/agent:2' },
      secrets: [{ name: 'OTHER', value: 'two' }],
    });
    const { status, json } = await send('POST', at(id, `/${first.latest_revision_id}/redeploy`));
    expect(status).toBe(200);
    expect(json.latest_revision_id).not.toBe(first.latest_revision_id);
    const { source_config, source_revision_config, secrets, image_version } = first;
    expect(json).toMatchObject({ source_config, source_revision_config, secrets, image_version });
    const { json: list } = await send('GET', at(id));
    expect(list.resources).toHaveLength(3);
    expect(list.resources[0]).toMatchObject({ id: json.latest_revision_id, status: 'QUEUED' });
    const diff = await send('GET', at(id, `/${first.latest_revision_id}/diff/${json.latest_revision_id}`));
    expect(diff.json.changes).toEqual([]);
  });

  it('warns of secrets that are newer than the revision or were removed, and keeps the present ones on request', async () => {
    const first = await deployed();
    const { id } = first;
    const url = at(id, `/${first.latest_revision_id}/redeploy`);
    expect((await send('POST', `${url}?dry_run=plan`)).json.warnings).toBeUndefined();
    await patch(id, {
      source_revision_config: { image_uri: 'registry.example/agent:2' },
      secrets: [
        { name: 'TOKEN', value: 'two' },
        { name: 'OTHER', value: 'three' },
      ],
    });
    const newer =
      'The secrets TOKEN, OTHER are newer than the revision and would be set back or removed: keep_secrets=true keeps the present secrets.';
    const planned = await send('POST', `${url}?dry_run=plan`);
    expect([planned.json.warnings, planned.headers.warning]).toEqual([[newer], `299 - "${newer}"`]);
    const kept = await send('POST', `${url}?keep_secrets=true`);
    expect([kept.status, kept.headers.warning]).toEqual([200, undefined]);
    const { image_uri } = kept.json.source_revision_config;
    const names = kept.json.secrets.map(({ name }: { name: string }) => name);
    expect([image_uri, names]).toEqual(['registry.example/agent:1', ['TOKEN', 'OTHER']]);
    const same = await send('GET', at(id, `/${kept.json.latest_revision_id}/diff/${first.latest_revision_id}`));
    expect(same.json.changes.map(({ member }: { member: string }) => member).sort()).toEqual([
      'secrets.OTHER',
      'secrets.TOKEN',
    ]);
    await patch(id, { secrets: [] });
    const back = await send('POST', url);
    expect(back.headers.warning).toContain('The secret TOKEN is removed after it and would be there again');
    expect(back.json.secrets.map(({ name }: { name: string }) => name)).toEqual(['TOKEN']);
    // TOKEN has its first value again, which is older than the second revision.
    const { json: list } = await send('GET', at(id));
    const tried = await send('POST', `${at(id, `/${list.resources.at(-2).id}/redeploy`)}?dry_run=true`);
    expect(tried.headers.warning).toMatch(/^299 - "The secret OTHER is removed after it/);
  });
});

describe('interrupt', () => {
  it('ends a revision once; a second time is a conflict', async () => {
    const { id, latest_revision_id: rid } = await deployed();
    const { status, json } = await send('POST', at(id, `/${rid}/interrupt`));
    expect([status, json.id, json.status]).toEqual([200, rid, 'INTERRUPTED']);
    expect(Object.keys(json)).toHaveLength(6);
    expect((await send('GET', at(id, `/${rid}`))).json).toEqual(json);
    const again = await send('POST', at(id, `/${rid}/interrupt`));
    expect([again.status, again.json.detail]).toEqual([409, `Revision ID ${rid} has already ended.`]);
    expect(again.headers['x-should-retry']).toBe('false');
  });
});

describe('diff', () => {
  it('tells what differs by member, secrets as digests', async () => {
    const { id, latest_revision_id: a } = await deployed();
    await patch(id, { source_config: { resource_spec: { cpu: 4 } } });
    const { json: b } = await patch(id, {
      source_revision_config: { image_uri: 'registry.example/agent:2' },
      secrets: [{ name: 'TOKEN', value: 'two' }],
    });
    const { json, text } = await send('GET', at(id, `/${a}/diff/${b.latest_revision_id}`));
    expect(json).toEqual({
      from: a,
      to: b.latest_revision_id,
      changes: [
        {
          member: 'source_revision_config.image_uri',
          before: 'registry.example/agent:1',
          after: 'registry.example/agent:2',
        },
        { member: 'source_config.resource_spec.cpu', before: 1, after: 4 },
        { member: 'secrets.TOKEN', before: expect.any(String), after: expect.any(String) },
      ],
    });
    expect(text).not.toMatch(/"(one|two)"/);
  });
});

describe('wait', () => {
  it('answers as soon as the revision has ended', async () => {
    const { id, latest_revision_id: rid } = await deployed();
    const waiting = send('GET', at(id, `/${rid}/wait?timeout=300`));
    await report(id, rid, 'DEPLOYING');
    await report(id, rid, 'DEPLOYED');
    expect((await waiting).json).toMatchObject({ id: rid, status: 'DEPLOYED' });
  });

  it('answers with the status so far when the time is over', async () => {
    const { id, latest_revision_id: rid } = await deployed();
    expect((await send('GET', at(id, `/${rid}/wait?timeout=0`))).json).toMatchObject({ id: rid, status: 'QUEUED' });
    expect((await send('GET', at(id, `/${rid}/wait?timeout=301`))).status).toBe(422);
  });

  it('does not keep a stopping service waiting', async () => {
    const other = await TestService.start();
    const { id, latest_revision_id: rid } = await other.ready({
      name: 'agent',
      source: 'internal_container',
      source_config: {},
      source_revision_config: { image_uri: 'a:1' },
      secrets: [],
    });
    const waiting = other.send('GET', at(id, `/${rid}/wait?timeout=300`));
    await other.stop();
    expect((await waiting).status).toBeLessThan(600);
  });
});
