import { streamName } from '@fairlead/eventing';
import { TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { REPOSITORY, uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
beforeAll(async () => (service = await TestService.start()));
afterAll(() => service.stop());

const CANARIES = ['canary-of-post', 'canary-of-patch', 'canary-of-dry-run', 'canary-of-refusal', 'canary-of-stranger'];
const [ofPost, ofPatch, ofDryRun, ofRefusal, ofStranger] = CANARIES as [string, string, string, string, string];
const sample = (name: string) => ({
  name,
  source: 'codehost',
  source_config: REPOSITORY,
  source_revision_config: { repo_ref: 'main' },
  secrets: [{ name: 'TOKEN', value: ofPost }],
});
const send: TestService['send'] = (...request) => service.send(...request);

interface Entry {
  version: number;
  type: string;
  actor: string;
  changes: { member: string; before: unknown; after: unknown }[];
}

describe('rule 14: history', () => {
  it('tells each event with who, when, in which request, why, and what changed', async () => {
    const { id, latest_revision_id } = await service.ready(sample('audited'));
    const body = { source_revision_config: { repo_ref: 'release' }, secrets: [{ name: 'TOKEN', value: ofPatch }] };
    const headers = { 'x-reason': 'security fix' };
    const patched = await send('PATCH', `/v2/deployments/${id}`, { body, headers });
    const { json, text } = await send('GET', `/v2/deployments/${id}/history`);
    expect(json.resources[0].version).toBe(5);
    const entries = (json.resources as Entry[]).reverse();
    expect(entries.map(({ version, type, actor }) => [version, type, actor])).toEqual([
      [1, 'DeploymentCreated', 'writer'],
      [2, 'RevisionCreated', 'writer'],
      [3, 'DeploymentProvisioned', 'system:deployments'],
      [4, 'DeploymentPatched', 'writer'],
      [5, 'RevisionCreated', 'writer'],
    ]);
    expect(json.offset).toBe(5);
    expect(entries[0]!.changes).toContainEqual({ member: 'name', before: null, after: 'audited' });
    expect(entries[2]!.changes).toEqual([{ member: 'status', before: 'AWAITING_DATABASE', after: 'READY' }]);
    expect(entries[3]).toEqual({
      version: 4,
      type: 'DeploymentPatched',
      time: expect.stringMatching(/Z$/),
      actor: 'writer',
      actor_name: null,
      request_id: patched.headers['x-request-id'],
      reason: 'security fix',
      changes: [
        { member: 'source_revision_config.repo_ref', before: 'main', after: 'release' },
        { member: 'secrets.TOKEN', before: expect.any(String), after: expect.any(String) },
      ],
    });
    const next = patched.json.latest_revision_id;
    expect(entries[4]!.changes).toEqual([
      { member: 'latest_revision_id', before: latest_revision_id, after: next },
      { member: `revisions.${next}.status`, before: null, after: 'QUEUED' },
    ]);
    for (const canary of CANARIES) expect(text).not.toContain(canary);
  });

  it('names the keys that acted', async () => {
    const { id } = await service.ready(sample('named'));
    const key = uuidOf(77);
    const data = { id: key, description: 'release pipeline' };
    await service.store.append(streamName('apiKey', key), 0, [{ type: 'ApiKeyCreated', data }], {});
    const patched = { type: 'DeploymentTagged', data: { tag_value_ids: [] } };
    await service.store.append(streamName('deployment', id), 'any', [patched], { tenant: TENANT, actor: key });
    const { json } = await send('GET', `/v2/deployments/${id}/history`);
    expect(json.resources[0]).toMatchObject({ actor: key, actor_name: 'release pipeline' });
    expect(json.resources[1]).toMatchObject({ actor: 'system:deployments', actor_name: null });
  });

  it('is paged by offset and by the version to go on after', async () => {
    const { id } = await service.ready(sample('paged'));
    const versions = async (query: string) => {
      const { json } = await send('GET', `/v2/deployments/${id}/history?${query}`);
      return (json.resources as Entry[]).map(({ version }) => version);
    };
    expect(await versions('')).toEqual([3, 2, 1]);
    expect(await versions('limit=2')).toEqual([3, 2]);
    expect(await versions('limit=2&offset=2')).toEqual([1]);
    expect(await versions('after=1')).toEqual([3, 2]);
    expect(await versions('after=9')).toEqual([]);
    const { headers } = await send('GET', `/v2/deployments/${id}/history?limit=2`);
    expect(headers.link).toContain('offset=2');
  });

  it('is in either order, of some types only, and says how many entries there are', async () => {
    const { id } = await service.ready(sample('ordered'));
    const found = async (query: string) => {
      const { json } = await send('GET', `/v2/deployments/${id}/history?${query}`);
      return [(json.resources as Entry[]).map(({ version }) => version), json.total];
    };
    expect(await found('order=asc')).toEqual([[1, 2, 3], 3]);
    expect(await found('order=desc&limit=1')).toEqual([[3], 3]);
    expect(await found('order=asc&limit=1&offset=1')).toEqual([[2], 3]);
    expect(await found('types=RevisionCreated,DeploymentCreated')).toEqual([[2, 1], 2]);
    expect(await found('types=RevisionCreated&after=2')).toEqual([[], 0]);
    expect((await send('GET', `/v2/deployments/${id}/history?order=up`)).status).toBe(422);
  });

  it('reads the stream once for a page of its newest part, and is as complete for one before', async () => {
    const { id } = await service.ready(sample('long'));
    const tagged = Array.from({ length: 300 }, (_, n) => ({
      type: 'DeploymentTagged',
      data: { tag_value_ids: [uuidOf(n)] },
    }));
    await service.store.append(streamName('deployment', id), 3, tagged, { tenant: TENANT, actor: 'writer' });
    const parts = jest.spyOn(service.store, 'parts');
    const page = async (query: string) => {
      parts.mockClear();
      const { json } = await send('GET', `/v2/deployments/${id}/history?limit=1&${query}`);
      const [entry] = json.resources as Entry[];
      const reads = parts.mock.calls.filter(([stream]) => stream === streamName('deployment', id)).length;
      return [entry!.version, entry!.changes, json.total, reads];
    };
    const change = (n: number) => [{ member: 'tag_value_ids', before: [uuidOf(n - 1)], after: [uuidOf(n)] }];
    expect(await page('')).toEqual([303, change(299), 303, 1]);
    expect(await page('offset=10')).toEqual([293, change(289), 303, 1]);
    expect(await page('order=asc&offset=10')).toEqual([11, change(7), 303, 2]);
    parts.mockRestore();
  });

  it('outlives the deployment', async () => {
    const { id } = await service.ready(sample('gone'));
    await send('DELETE', `/v2/deployments/${id}`);
    const { json } = await service.eventually(
      () => send('GET', `/v2/deployments/${id}/history`),
      (answer) => answer.json.resources.length === 5,
    );
    expect((json.resources as Entry[])[0]).toMatchObject({ type: 'DeploymentDeleted' });
    expect((await send('GET', `/v2/deployments/${uuidOf(404)}/history`)).status).toBe(404);
  });
});

it('commands beside a program are in the history, by their start and their end', async () => {
  const { id } = await service.ready(sample('commanded'));
  const [command_id, revision_id] = [uuidOf(901), uuidOf(902)];
  const known = { deployment_id: id, command_id, version: 2 };
  const metadata = { tenant: TENANT, actor: 'a key', reason: 'full' };
  const command = ['sh', '-c', 'rm data/*'];
  const ended = { ...known, exit_code: null, reason: 'It took longer than 600 s.', duration_ms: 7 };
  await service.store.append(
    `command-${id}`,
    'any',
    [
      { type: 'CommandStarted', data: { ...known, revision_id, command } },
      { type: 'CommandEnded', data: ended },
    ],
    metadata,
  );
  const { json } = await send('GET', `/v2/deployments/${id}/history?types=CommandStarted,CommandEnded`);
  const common = { version: 2, actor: 'a key', reason: 'full', changes: [] };
  const outcome = { exit_code: null, reason: 'It took longer than 600 s.', duration_ms: 7 };
  expect(json.resources).toMatchObject([
    { ...common, type: 'CommandEnded', command: { id: command_id, ...outcome } },
    { ...common, type: 'CommandStarted', command: { id: command_id, revision_id, words: command } },
  ]);
});

describe('rule 10: secret values', () => {
  const masked = [{ name: 'TOKEN', value: '********' }];
  const readings = async (url: string) => {
    const { json } = await send('GET', `${url}/history`);
    return (json.resources as (Entry & { secrets_read?: string[]; reason: string | null })[])
      .filter(({ type }) => type === 'SecretsRead')
      .map(({ actor, version, secrets_read, reason }) => [actor, version, secrets_read, reason]);
  };

  it('are in no answer unasked, whatever the key may read', async () => {
    const { id, latest_revision_id } = await service.ready(sample('unasked'));
    const url = `/v2/deployments/${id}`;
    const body = { secrets: [...masked, { name: 'NEW', value: ofPatch }] };
    const as = 'auditor';
    const answers = [
      await send('POST', '/v2/deployments', { as, body: sample('unasked-too') }),
      await send('GET', url, { as }),
      await send('PATCH', url, { as, body, headers: { 'idempotency-key': 'unasked' } }),
      await send('PATCH', url, { as, body, headers: { 'idempotency-key': 'unasked' } }),
      await send('POST', `${url}/revisions/${latest_revision_id}/redeploy`, { as, body: {} }),
      await send('GET', `${url}?version=1`, { as }),
      await send('GET', `/v2/deployments?deployment_ids=${id}`, { as }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200, 200]);
    for (const { text } of answers) for (const canary of CANARIES) expect(text).not.toContain(canary);
    expect(answers[1]!.json.secrets).toEqual(masked);
    expect(await readings(url)).toEqual([]);
  });

  it('are answered with include_secrets to a key that may read them, and each such reading is in the history', async () => {
    const { id } = await service.ready(sample('secretive'));
    const url = `/v2/deployments/${id}`;
    const asked = `${url}?include_secrets=true`;
    const seen = await send('GET', asked, { as: 'auditor', headers: { 'x-reason': 'to move it' } });
    expect(seen.json.secrets).toEqual([{ name: 'TOKEN', value: ofPost }]);
    expect([seen.headers['cache-control'], seen.headers.etag]).toEqual(['no-store', '"2"']);
    expect((await send('GET', asked)).status).toBe(403);
    expect((await send('GET', asked, { as: 'stranger' })).status).toBe(404);
    expect((await send('GET', `${asked}&version=1`, { as: 'auditor' })).status).toBe(400);
    expect(await readings(url)).toEqual([['auditor', 3, ['TOKEN'], 'to move it']]);
  });

  it('are kept by a PATCH that sends back what GET has answered, and the mask is never a value', async () => {
    const { id, latest_revision_id } = await service.ready(sample('kept'));
    const url = `/v2/deployments/${id}`;
    const { secrets } = (await send('GET', url)).json;
    const same = await send('PATCH', url, { body: { secrets } });
    expect(same.json.latest_revision_id).toBe(latest_revision_id);
    const unknown = await send('PATCH', url, { body: { secrets: [{ name: 'OTHER', value: '********' }] } });
    expect([unknown.status, unknown.json.detail]).toEqual([
      400,
      "The secret 'OTHER' in secrets has no stored value to keep.",
    ]);
    const created = await send('POST', '/v2/deployments', { body: { ...sample('no mask'), secrets } });
    expect(created.status).toBe(400);
    const { json } = await send('GET', `${url}?include_secrets=1`, { as: 'auditor' });
    expect(json.secrets).toEqual([{ name: 'TOKEN', value: ofPost }]);
  });

  it('are revealed one at a time, for a reason that the history keeps', async () => {
    const secrets = [
      { name: 'TOKEN', value: ofPost },
      { name: 'OTHER', value: 'other' },
    ];
    const { id } = await service.ready({ ...sample('revealed'), secrets });
    const url = `/v2/deployments/${id}`;
    const reveal = (name: string, more: object = {}) =>
      send('POST', `${url}/secrets/${name}/reveal`, { as: 'auditor', body: { reason: 'it is to be moved' }, ...more });
    const seen = await reveal('TOKEN', { headers: { 'x-reason': 'another reason' } });
    expect([seen.status, seen.json]).toEqual([200, { name: 'TOKEN', value: ofPost }]);
    expect(seen.headers['cache-control']).toBe('no-store');
    expect((await reveal('OTHER')).json).toEqual({ name: 'OTHER', value: 'other' });
    const missing = await reveal('NONE');
    expect([missing.status, missing.json.detail]).toEqual([404, `Secret 'NONE' of deployment ${id} not found.`]);
    expect((await reveal('TOKEN', { as: 'stranger' })).json.detail).toBe(`Deployment ID ${id} not found.`);
    expect((await reveal('TOKEN', { as: 'writer' })).status).toBe(403);
    for (const body of [{}, { reason: '' }, { reason: 'x'.repeat(1001) }]) {
      expect((await reveal('TOKEN', { body })).status).toBe(422);
    }
    expect(await readings(url)).toEqual([
      ['auditor', 3, ['OTHER'], 'it is to be moved'],
      ['auditor', 3, ['TOKEN'], 'it is to be moved'],
    ]);
  });

  it('are in no table, event, log or refused answer', async () => {
    const { id } = await service.ready(sample('sealed'));
    const url = `/v2/deployments/${id}`;
    const secrets = (value: string) => ({ secrets: [{ name: 'TOKEN', value }] });
    await send('PATCH', url, { body: secrets(ofPatch), headers: { 'idempotency-key': 'once', 'x-reason': 'rotate' } });
    await send('PATCH', url, { body: secrets(ofPatch), as: 'auditor', headers: { 'idempotency-key': 'twice' } });
    await send('PATCH', `${url}?dry_run=1`, { body: secrets(ofDryRun) });
    await send('POST', '/v2/deployments?dry_run=1', { body: { ...sample('tried'), ...secrets(ofDryRun) } });
    const strange = await send('PATCH', url, { body: secrets(ofStranger), as: 'stranger' });
    const refused = await send('PATCH', url, { body: { ...secrets(ofRefusal), source_config: 5 } });
    const broken = await send('PATCH', url, { body: { secrets: [{ name: 'PORT', value: ofRefusal }] } });
    expect([strange.status, refused.status, broken.status]).toEqual([404, 422, 400]);
    await send('POST', '/v2/deployments', {
      body: { ...sample('by-key'), ...secrets(ofPost) },
      as: 'auditor',
      headers: { 'idempotency-key': 'new' },
    });

    const events = await service.store.read(streamName('deployment', id));
    expect(events[0]).toMatchObject({
      data: { secrets: [{ name: 'TOKEN', sealed: { subject: id } }] },
      metadata: { tenant: TENANT },
    });
    const places = [...(await dump()), ...service.log, refused.text, broken.text, strange.text];
    for (const canary of CANARIES) expect(places.filter((text) => text.includes(canary))).toEqual([]);
  });

  it('can be read by nobody once the deployment is removed', async () => {
    const { id } = await service.ready(sample('shredded'));
    const keys = () => service.database.pool.query('select from data_keys where subject = $1', [id]);
    expect((await keys()).rowCount).toBe(1);
    await send('DELETE', `/v2/deployments/${id}`);
    await until(async () => (await keys()).rowCount === 0);
    expect((await send('GET', `/v2/deployments/${id}?include_secrets=1`, { as: 'auditor' })).status).toBe(404);
  });
});

/** Every row of every table of the database as text. */
async function dump(): Promise<string[]> {
  const { pool } = service.database;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  const all: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} as t`);
    all.push(...rows.map(({ row }) => row));
  }
  expect(tables.length).toBeGreaterThan(5);
  return all;
}
