import { handle, load, nameStream, owned, streamName, Vault } from '@fairlead/eventing';
import { OTHER_TENANT, type Sent, TENANT } from '@fairlead/edge/testing';
import { deploymentAggregate, deploymentModel } from '../model/deployment';
import { reportRevision } from '../model/revision';
import type { RevisionStatus } from '@fairlead/contracts';
import { INTEGRATION, LISTENER, REPOSITORY, uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
let count = 0;
beforeAll(async () => {
  service = await TestService.start();
  await service.listener();
});
afterAll(() => service.stop());

const send: TestService['send'] = (...request) => service.send(...request);
const sample = (more: object = {}) => ({
  name: `agent-${++count}`,
  source: 'codehost',
  source_config: { ...REPOSITORY, deployment_type: 'prod' },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
  secrets: [{ name: 'TOKEN', value: 'one' }],
  ...more,
});
const secretsOf = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `S${n}`, value: 'x'.repeat(length) }));
const container = (more: object = {}) => ({
  name: `agent-${++count}`,
  source: 'external_container',
  source_config: { listener_id: LISTENER, listener_config: { cluster_namespace: 'agents' } },
  source_revision_config: { image_uri: 'registry.example/agent:1.4.2' },
  secrets: [],
  ...more,
});
/** A deployment that names nothing of a workspace: anyone may create it. */
const elsewhere = (more: object = {}) =>
  sample({ source: 'internal_source', source_config: {}, source_revision_config: {}, ...more });
const at = (id: string, rest = '') => `/v2/deployments/${id}${rest}`;
const report = (id: string, revisionId: string, status: RevisionStatus) =>
  handle(
    service.store,
    deploymentModel,
    streamName('deployment', id),
    owned(deploymentAggregate, TENANT, id, reportRevision(revisionId, status)),
    {
      tenant: TENANT,
      actor: 'system:rollouts',
    },
  );
const listed = async (query: string) => {
  const { json } = await send('GET', `/v2/deployments?${query}`);
  return (json.resources as { name: string }[]).map(({ name }) => name);
};

describe('POST /v2/deployments', () => {
  it('answers 201 with the whole record, null where nothing was given', async () => {
    const body = sample();
    const { status, json, headers } = await send('POST', '/v2/deployments', { body });
    expect(status).toBe(201);
    expect(headers.etag).toBe('"2"');
    expect(json).toEqual({
      name: body.name,
      source: 'codehost',
      source_config: {
        ...REPOSITORY,
        deployment_type: 'prod',
        build_on_push: null,
        build_on_push_paths: null,
        custom_url: null,
        resource_spec: null,
        listener_id: null,
        listener_config: null,
        install_command: null,
        build_command: null,
      },
      source_revision_config: {
        repo_ref: 'main',
        graph_config_path: 'graph.json',
        image_uri: null,
        source_tarball_path: null,
        repo_commit_sha: null,
      },
      secrets: [{ name: 'TOKEN', value: '********' }],
      secret_references: null,
      id: expect.any(String),
      tenant_id: TENANT,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
      status: 'AWAITING_DATABASE',
      latest_revision_id: expect.any(String),
      active_revision_id: null,
      image_version: null,
    });
  });

  it('rule 5: makes revision 1 of a usable artefact, and none without one until the first PATCH', async () => {
    const { json } = await send('POST', '/v2/deployments', { body: container() });
    expect(json.latest_revision_id).not.toBeNull();
    const pushed = { ...sample({ source: 'internal_container', source_config: {}, source_revision_config: {} }) };
    const empty = await send('POST', '/v2/deployments', { body: pushed });
    expect(empty.json.latest_revision_id).toBeNull();
    const body = { source_revision_config: { image_uri: 'registry.example/agent:2' } };
    const patched = await send('PATCH', at(empty.json.id), { body });
    expect(patched.json.latest_revision_id).not.toBeNull();
  });

  it('rule 9: is AWAITING_DATABASE at first and READY soon after', async () => {
    const { json } = await send('POST', '/v2/deployments', { body: sample() });
    expect(json.status).toBe('AWAITING_DATABASE');
    const later = await service.eventually(
      () => send('GET', at(json.id)),
      (answer) => answer.json.status === 'READY',
    );
    expect(later.headers.etag).toBe('"2"');
  });

  it('says what deployed it, and the name of its tracing project when that is another', async () => {
    const { json } = await send('POST', '/v2/deployments', { body: sample() });
    const [metadata, deployment_id] = [{ tenant: TENANT }, json.id];
    const said = { deployment_id, revision_id: json.latest_revision_id };
    const reports = ['DEPLOYING', 'DEPLOYED'].map((status) => ({
      type: 'RolloutStatusReported',
      data: { ...said, status, executor: 'record' },
    }));
    await service.store.append(streamName('rollout', json.latest_revision_id), 0, reports, metadata);
    const project = { type: 'SessionCreated', data: { name: 'another', reference_dataset_id: null, deployment_id } };
    await service.store.append(streamName('experiment', deployment_id), 0, [project], metadata);
    const { json: later } = await service.eventually(
      () => send('GET', at(json.id)),
      (answer) => answer.json.executor !== undefined && answer.json.tracing_project !== undefined,
    );
    expect(later).toMatchObject({ executor: 'record', tracing_project: 'another', status: 'READY' });
    expect((await send('GET', at(json.id), { as: 'auditor' })).json).toMatchObject({ tracing_project: 'another' });
  });

  it('refuses a name that the tenant already uses; another tenant may use it', async () => {
    const body = sample();
    expect((await send('POST', '/v2/deployments', { body })).status).toBe(201);
    const again = await send('POST', '/v2/deployments', { body });
    expect(again.status).toBe(400);
    expect(again.json.detail).toBe(`A deployment named '${body.name}' already exists.`);
    const theirs = elsewhere({ name: body.name });
    expect((await send('POST', '/v2/deployments', { body: theirs, as: 'stranger' })).status).toBe(201);
  });

  it('creates exactly one of many at once under one name', async () => {
    const body = sample();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('POST', '/v2/deployments', { body })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 400)]);
  });

  it('rule 14: an Idempotency-Key makes a repeated POST one deployment', async () => {
    const body = sample();
    const post = () => send('POST', '/v2/deployments', { body, headers: { 'idempotency-key': body.name } });
    const first = await post();
    const again = await post();
    expect([again.status, again.json, again.headers.etag]).toEqual([201, first.json, first.headers.etag]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await listed(`name_contains=${body.name}`)).toEqual([body.name]);
    const headers = { 'idempotency-key': body.name };
    const theirs = { body: elsewhere({ name: body.name }), headers, as: 'stranger' as const };
    const other = await send('POST', '/v2/deployments', theirs);
    expect([other.status, other.json.tenant_id, other.headers['idempotent-replayed']]).toEqual([
      201,
      OTHER_TENANT,
      undefined,
    ]);
  });

  it('rule 14: a POST repeated after a crash ends what the first began, wherever that was cut off', async () => {
    const body = sample();
    const headers = { 'idempotency-key': body.name };
    const append = service.store.append.bind(service.store);
    const cut = jest.spyOn(service.store, 'append').mockImplementation(async (stream, ...more) => {
      if (stream.startsWith('deployment-')) throw new Error('cut off');
      return append(stream, ...more);
    });
    expect((await send('POST', '/v2/deployments', { body, headers })).status).toBe(500);
    cut.mockRestore();
    const [reserved] = await service.store.read(nameStream('deploymentName', TENANT, body.name));
    const first = await send('POST', '/v2/deployments', { body, headers });
    const owner = streamName('deployment', first.json.id);
    expect([first.status, reserved!.data]).toEqual([201, { owner }]);
    const set = `status = null, answer = null, leased_until = now() - interval '1 second'`;
    await service.database.pool.query(`update idempotency_keys set ${set} where key = $1`, [body.name]);
    const again = await send('POST', '/v2/deployments', { body, headers });
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect((await send('POST', '/v2/deployments', { body })).status).toBe(400);
  });

  it.each([
    ['custom_url', 'https://agent.example', sample],
    ['install_command', 'npm ci', sample],
    ['build_command', 'npm run build', sample],
    ['build_on_push', true, sample],
    ['listener_id', LISTENER, container],
    ['listener_config', { cluster_namespace: 'agents' }, container],
    ['resource_spec', { min_scale: 1, labels: { team: 'a' } }, container],
  ])('answers the %s that was given, to all who ask', async (member, value, kind) => {
    const { status, json } = await send('POST', '/v2/deployments', {
      body: kind({ source_config: { ...(kind === sample && REPOSITORY), [member]: value } }),
    });
    expect([status, json.source_config[member]]).toEqual([201, value]);
    expect((await send('GET', at(json.id))).json.source_config).toEqual(json.source_config);
  });

  it('answers the secret_references that were given', async () => {
    const secret_references = [{ name: 'DB', secret_name: 'db', secret_key: 'url' }];
    const { json } = await send('POST', '/v2/deployments', { body: container({ secret_references }) });
    expect(json.secret_references).toEqual(secret_references);
    const body = { secret_references: [] };
    expect((await send('PATCH', at(json.id), { body })).json.secret_references).toEqual([]);
  });

  it('belongs to the tenant of the key, whatever the body says', async () => {
    const { json } = await send('POST', '/v2/deployments', {
      body: sample({ tenant_id: OTHER_TENANT, id: uuidOf(5) }),
    });
    expect(json.tenant_id).toBe(TENANT);
    expect(json.id).not.toBe(uuidOf(5));
    const { id, name } = json;
    expect((await send('GET', at(id))).json).toMatchObject({ id, name, tenant_id: TENANT });
  });

  it.each(['http://code.example/a/b', 'https://10.0.0.1/a/b', 'https://169.254.169.254/', 'https://localhost/a/b'])(
    'refuses the repo_url %s',
    async (repo_url) => {
      const { status, json } = await send('POST', '/v2/deployments', {
        body: sample({ source_config: { ...REPOSITORY, repo_url } }),
      });
      expect([status, json.detail]).toEqual([400, expect.stringMatching(/^repo_url /)]);
    },
  );

  it.each(['repo_url', 'custom_url'])('takes only an http or https URL as %s', async (member) => {
    const problems = async (url: string) => {
      const { status, json } = await send('POST', '/v2/deployments', {
        body: sample({ source_config: { ...REPOSITORY, [member]: url } }),
      });
      return [status, json.detail];
    };
    expect(await problems('javascript:alert(1)')).toEqual([
      422,
      [
        {
          type: 'url_scheme',
          loc: ['body', 'source_config', member],
          msg: "URL scheme should be 'http' or 'https'",
          input: 'javascript:alert(1)',
          ctx: { expected_schemes: "'http' or 'https'" },
        },
      ],
    ]);
    for (const url of [
      'x',
      '//code.example',
      'https://',
      'https://a b.example',
      'data:text/html,x',
      ' java\nscript:x',
    ]) {
      expect([url, await problems(url)]).toMatchObject([url, [422, [{ loc: ['body', 'source_config', member] }]]]);
    }
  });

  it('takes a custom_url on a private network, and removes it again', async () => {
    const custom_url = 'http://agent.intranet:8080/';
    const { json } = await send('POST', '/v2/deployments', {
      body: sample({ source_config: { ...REPOSITORY, custom_url } }),
    });
    expect(json.source_config.custom_url).toBe(custom_url);
    const cleared = await send('PATCH', at(json.id), { body: { source_config: { custom_url: '' } } });
    expect(cleared.json.source_config.custom_url).toBeNull();
  });

  it('names every missing and every wrong member', async () => {
    const missing = await send('POST', '/v2/deployments', { body: {} });
    expect(missing.status).toBe(422);
    expect(missing.json.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual(
      ['name', 'source', 'source_config', 'source_revision_config', 'secrets'].map((member) => ['body', member]),
    );
    const inner = await send('POST', '/v2/deployments', { body: sample({ secrets: [{}], secret_references: [{}] }) });
    expect(inner.json.detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, ...loc.slice(1)])).toEqual([
      ['missing', 'secrets', 0, 'name'],
      ['missing', 'secrets', 0, 'value'],
      ['missing', 'secret_references', 0, 'name'],
      ['missing', 'secret_references', 0, 'secret_name'],
      ['missing', 'secret_references', 0, 'secret_key'],
    ]);
    const nowhere = container({ secret_references: [{ name: 'DB', secret_name: '', secret_key: '' }] });
    const { detail } = (await send('POST', '/v2/deployments', { body: nowhere })).json;
    expect(detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, ...loc.slice(1)])).toEqual([
      ['string_too_short', 'secret_references', 0, 'secret_name'],
      ['string_too_short', 'secret_references', 0, 'secret_key'],
    ]);
    const wrong = await send('POST', '/v2/deployments', { body: sample({ source: 'zip' }) });
    expect(wrong.json.detail[0]).toMatchObject({ type: 'literal_error', loc: ['body', 'source'], input: 'zip' });
  });

  it.each([
    ['U+0000', 'value_error', '\0'],
    ['a lone surrogate', 'string_unicode', '\ud800'],
  ])('refuses a secret with %s, which no program could get, also in a PATCH', async (_, type, character) => {
    const { id } = (await send('POST', '/v2/deployments', { body: sample() })).json;
    const secrets = [
      { name: 'GOOD', value: 'x' },
      { name: 'BAD', value: `canary${character}` },
    ];
    for (const [method, path] of [
      ['POST', '/v2/deployments'],
      ['PATCH', `/v2/deployments/${id}`],
    ] as const) {
      const { status, json, text } = await send(method, path, {
        body: method === 'POST' ? sample({ secrets }) : { secrets },
      });
      expect([status, json.detail]).toEqual([
        422,
        [expect.objectContaining({ type, loc: ['body', 'secrets', 1, 'value'] })],
      ]);
      expect(text).not.toContain('canary');
    }
  });

  it('takes the longest secret that a program can get', async () => {
    const { status } = await send('POST', '/v2/deployments', { body: sample({ secrets: secretsOf(1, 131_068) }) });
    expect(status).toBe(201);
  });

  it('never echoes a secret in an error', async () => {
    const secrets = [{ name: 5, value: 'canary-422' }, { value: 'canary-422' }];
    const { text, status } = await send('POST', '/v2/deployments', { body: sample({ secrets, name: 7 }) });
    expect(status).toBe(422);
    expect(text).not.toContain('canary-422');
  });

  it.each([
    ['a reserved name', [{ name: 'PORT', value: '1' }]],
    [
      'a duplicate name',
      [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    ],
    ['a mask without a stored value', [{ name: 'A', value: '********' }]],
  ])('rule 10: refuses %s in secrets', async (_, secrets) => {
    const { status, json } = await send('POST', '/v2/deployments', { body: sample({ secrets }) });
    expect(status).toBe(400);
    expect(json.detail).toMatch(/secrets/);
  });

  it('rule 7: refuses a member that does not belong to the source, and keeps no name reserved', async () => {
    const body = sample({ source_revision_config: { image_uri: 'a:1' } });
    const refused = await send('POST', '/v2/deployments', { body });
    expect(refused).toMatchObject({
      status: 400,
      json: { detail: "image_uri is not allowed when source is 'codehost'." },
    });
    expect((await send('POST', '/v2/deployments', { body: { ...sample(), name: body.name } })).status).toBe(201);
  });

  it.each([
    ['integration_id', sample({ source_config: { repo_url: REPOSITORY.repo_url } })],
    ['repo_url', sample({ source_config: { integration_id: INTEGRATION } })],
    ['integration_id', sample({ source_config: { ...REPOSITORY, integration_id: uuidOf(404) } })],
    ['repo_url', sample({ source_config: { ...REPOSITORY, repo_url: 'https://elsewhere.example/team/agent' } })],
    ['repo_url', sample({ source_config: { ...REPOSITORY, repo_url: 'https://code.example/team' } })],
    ['listener_id', container({ source_config: { listener_id: uuidOf(404) } })],
    [
      'cluster_namespace',
      container({ source_config: { listener_id: LISTENER, listener_config: { cluster_namespace: 'x' } } }),
    ],
    ['image_uri', container({ source_revision_config: { image_uri: 'no spaces allowed' } })],
    ['secrets', sample({ secrets: [{ name: 'not-a-variable', value: 'x' }] })],
    ["'LONG' in secrets has 131067 bytes", sample({ secrets: [{ name: 'LONG', value: 'x'.repeat(131_067) }] })],
    ['values in secrets have 1048580 bytes', sample({ secrets: secretsOf(10, 104_858) })],
  ])('refuses what could never be deployed, naming %s, also in a dry run', async (member, body) => {
    for (const query of ['', '?dry_run=true']) {
      const { status, json } = await send('POST', `/v2/deployments${query}`, { body });
      expect([status, json.detail]).toEqual([400, expect.stringContaining(member)]);
    }
    expect(await listed(`name=${body.name}`)).toEqual([]);
  });

  it('refuses the integration and the listener of another workspace, and those that were removed', async () => {
    for (const body of [sample(), container()]) {
      const { status, json } = await send('POST', '/v2/deployments', { body, as: 'stranger' });
      expect([status, json.detail]).toEqual([400, expect.stringContaining('of this workspace')]);
    }
    const [removed, metadata] = [uuidOf(3), { tenant: TENANT }];
    await service.integration(removed);
    const source_config = { ...REPOSITORY, integration_id: removed };
    expect((await send('POST', '/v2/deployments', { body: sample({ source_config }) })).status).toBe(201);
    const gone = { type: 'IntegrationRemoved', data: { integration_id: removed } };
    await service.store.append(streamName('integration', removed), 1, [gone], metadata);
    expect((await send('POST', '/v2/deployments', { body: sample({ source_config }) })).status).toBe(400);
  });

  it('takes and answers the real wire’s spelling', async () => {
    const body = {
      ...sample({ source: 'github', source_revision_config: { repo_ref: 'main', langgraph_config_path: 'g.json' } }),
      source_config: { ...REPOSITORY, resource_spec: { redis_cpu: 1.5 } },
    };
    const { status, json } = await send('POST', '/api-host/v2/deployments', { body });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      source: 'github',
      source_config: { resource_spec: { redis_cpu: 1.5 } },
      source_revision_config: { langgraph_config_path: 'g.json' },
    });
    expect((await send('GET', at(json.id))).json).toMatchObject({
      source: 'codehost',
      source_config: { resource_spec: { cache_cpu: 1.5 } },
      source_revision_config: { graph_config_path: 'g.json' },
    });
    expect((await send('GET', `/api-host${at(json.id)}`)).json.source).toBe('github');
    const list = await send('GET', `/api-host/v2/deployments?name_contains=${body.name}`);
    expect(list.json.resources[0].source).toBe('github');
  });
});

describe('two spellings', () => {
  it.each([
    ['codehost', 'github'],
    ['external_container', 'external_docker'],
    ['internal_container', 'internal_docker'],
    ['internal_source', 'internal_source'],
    ['internal_template', 'internal_template'],
  ])('%s is %s on the real wire: both are taken, the path says which one is answered', async (own, wire) => {
    const empty = { source_config: own === 'codehost' ? REPOSITORY : {}, source_revision_config: {} };
    for (const source of [own, wire]) {
      for (const [base, answered] of [
        ['', own],
        ['/api-host', wire],
      ]) {
        const { status, json } = await send('POST', `${base}/v2/deployments`, { body: sample({ source, ...empty }) });
        expect([status, json.source]).toEqual([201, answered]);
      }
    }
  });

  const built = (members: object) => ({ source_revision_config: members });
  const listening = (members: object) => ({ source_config: { listener_config: members } });
  const sized = (members: object) => ({ source_config: { resource_spec: members } });
  it.each([
    ['graph_config_path', 'langgraph_config_path', built, ['a.json', 'b.json'], sample],
    ['cluster_namespace', 'k8s_namespace', listening, ['agents', 'others'], container],
    ['cache_cpu', 'redis_cpu', sized, [1, 2], sample],
    ['cache_cpu_limit', 'redis_cpu_limit', sized, [1, 2], sample],
    ['cache_memory_mb', 'redis_memory_mb', sized, [1, 2], sample],
    ['cache_memory_limit_mb', 'redis_memory_limit_mb', sized, [1, 2], sample],
  ] as const)('%s is also %s; with different values both are refused', async (own, wire, part, values, kind) => {
    const [value, other] = values;
    const { id } = await service.ready(kind());
    for (const name of [own, wire]) {
      const body = part({ [name]: value });
      expect((await send('PATCH', at(id), { body })).json).toMatchObject(part({ [own]: value }));
      expect((await send('PATCH', `/api-host${at(id)}`, { body })).json).toMatchObject(part({ [wire]: value }));
    }
    const both = (second: unknown) => send('PATCH', at(id), { body: part({ [own]: value, [wire]: second }) });
    expect((await both(value)).status).toBe(200);
    expect(await both(other)).toMatchObject({
      status: 400,
      json: { detail: `The members ${own} and ${wire} mean the same but have different values.` },
    });
  });

  it('a PATCH takes both for the sources that it names', async () => {
    const { id } = await service.ready(sample());
    const patch = (body: object) => send('PATCH', at(id), { body });
    expect((await patch({ source: 'github', revision_source: 'github' })).status).toBe(200);
    expect((await patch({ source: 'external_docker' })).json.detail).toBe('source cannot be changed after creation.');
    const pushed = { revision_source: 'internal_docker', source_revision_config: { image_uri: 'agent:1' } };
    const { json } = await patch(pushed);
    const revision = await send('GET', at(id, `/revisions/${json.latest_revision_id}`));
    expect(revision.json.source).toBe('internal_container');
  });

  it.each([
    { base: '', other: '/api-host', names: ['codehost', 'github'] },
    { base: '/api-host', other: '', names: ['github', 'codehost'] },
  ])(
    'an answer given at "$base" has the names of "$other" when it is repeated there',
    async ({ base, other, names }) => {
      const { id, latest_revision_id: rid } = await service.ready(sample());
      const revision = `/${id}/revisions/${rid}`;
      for (const [method, rest, body] of [
        ['POST', '', sample()],
        ['PATCH', `/${id}`, { source_revision_config: { repo_ref: 'release' } }],
        ['POST', `${revision}/redeploy`, undefined],
        ['POST', `${revision}/interrupt`, undefined],
      ] as const) {
        const headers = { 'idempotency-key': `spelled ${id} ${rest}` };
        const ask = (path: string) => send(method, `${path}/v2/deployments${rest}`, { body, headers });
        const first = await ask(base);
        const again = await ask(other);
        expect([again.status, again.headers['idempotent-replayed']]).toEqual([first.status, 'true']);
        expect([first.json.source, again.json.source]).toEqual(names);
        expect((await ask(base)).json).toEqual(first.json);
      }
    },
  );

  it('every answer below /api-host has the names of the real wire', async () => {
    const config = { listener_config: { cluster_namespace: 'agents' }, resource_spec: { cache_cpu: 1 } };
    const wired = {
      source: 'external_docker',
      source_config: { listener_config: { k8s_namespace: 'agents' }, resource_spec: { redis_cpu: 1 } },
    };
    const { id, latest_revision_id: rid, name } = await service.ready(container({ source_config: config }));
    const below = async (method: 'GET' | 'POST' | 'PATCH', rest: string, body?: object) =>
      (await send(method, `/api-host/v2/deployments${rest}`, { body })).json;
    const body = container({ source_config: config });
    for (const answer of [
      await below('POST', '?dry_run=true', body),
      await below('POST', '', body),
      await below('GET', `/${id}`),
      await below('GET', `/${id}?version=1`),
      await below('PATCH', `/${id}?dry_run=true`, {}),
      await below('PATCH', `/${id}`, {}),
      await below('POST', `/${id}/revisions/${rid}/redeploy`),
      (await send('GET', `/api-host${at(id)}`, { as: 'auditor' })).json,
      (await below('GET', `?name_contains=${String(name)}`)).resources[0],
    ]) {
      expect(answer).toMatchObject(wired);
    }
    const revisions = `/${id}/revisions`;
    for (const answer of [
      (await below('GET', revisions)).resources[0],
      await below('GET', `${revisions}/${rid}`),
      await below('GET', `${revisions}/${rid}/wait?timeout=0`),
      await below('POST', `${revisions}/${rid}/interrupt`),
    ]) {
      expect(answer.source).toBe('external_docker');
    }
    expect((await send('GET', `/v2/deployments?name_contains=${String(name)}`)).json.resources[0].source).toBe(
      'external_container',
    );
  });
});

describe('GET /v2/deployments', () => {
  it('pages: the answer’s offset asks for the next page, Link says where it is', async () => {
    const prefix = `page-${++count}`;
    for (const n of [1, 2, 3]) await send('POST', '/v2/deployments', { body: sample({ name: `${prefix}-${n}` }) });
    const first = await send('GET', `/v2/deployments?name_contains=${prefix}&limit=2`);
    expect(first.json.offset).toBe(2);
    expect(first.json.resources.map(({ name }: { name: string }) => name)).toEqual([`${prefix}-3`, `${prefix}-2`]);
    expect(first.headers.link).toBe(`</v2/deployments?name_contains=${prefix}&limit=2&offset=2>; rel="next"`);
    const second = await send('GET', `/v2/deployments?name_contains=${prefix}&limit=2&offset=2`);
    expect(second.json.resources.map(({ name }: { name: string }) => name)).toEqual([`${prefix}-1`]);
    expect(second.json.offset).toBe(3);
    expect(second.headers.link).toBeUndefined();
    expect((await send('GET', `/v2/deployments?name_contains=${prefix}&offset=90`)).json).toEqual({
      resources: [],
      offset: 90,
    });
  });

  it('shows 20 where no limit is given, 100 at most', async () => {
    const prefix = `many-${++count}`;
    const names = Array.from({ length: 21 }, (_, n) => `${prefix}-${n}`);
    for (const name of names) await send('POST', '/v2/deployments', { body: sample({ name }) });
    expect(await listed(`name_contains=${prefix}`)).toHaveLength(20);
    expect(await listed(`name_contains=${prefix}&limit=100`)).toHaveLength(21);
  });

  it('answers everybody in their own names and with their own deployments, however many ask at once', async () => {
    const name = `busy-${++count}`;
    const { json } = await send('POST', '/v2/deployments', { body: sample({ name }) });
    const stranger = await send('POST', '/v2/deployments', { body: elsewhere({ name }), as: 'stranger' });
    const path = `/v2/deployments?name_contains=${name}`;
    const asked = Array.from({ length: 5 }, () => [
      send('GET', path),
      send('GET', `/api-host${path}`),
      send('GET', path, { as: 'stranger' }),
    ]);
    const answers = await Promise.all(asked.flat());
    const found = answers.map((answer) => answer.json.resources as { id: string; source: string }[]);
    expect(found.map((list) => list.map(({ id, source }) => [id, source]))).toEqual(
      Array.from({ length: 5 }, () => [
        [[json.id, 'codehost']],
        [[json.id, 'github']],
        [[stranger.json.id, 'internal_source']],
      ]).flat(),
    );
  });

  it.each(['dev_free', 'dev', 'prod', 'dev_zero', 'serverless'])(
    'keeps the deployment_type %s, and finds it',
    async (type) => {
      const name = `typed-${++count}`;
      const { json } = await send('POST', '/v2/deployments', {
        body: sample({ name, source_config: { ...REPOSITORY, deployment_type: type } }),
      });
      expect(json.source_config.deployment_type).toBe(type);
      const { status, json: list } = await send('GET', `/v2/deployments?name_contains=${name}&deployment_type=${type}`);
      // The specification lets lists be narrowed to the first three only; clients have the fourth as their default.
      if (type === 'serverless') expect(status).toBe(422);
      else expect(list.resources).toMatchObject([{ id: json.id }]);
    },
  );

  describe('for an agent', () => {
    const forAgent = (agent_id: string, environment: string, more: object = {}) => ({
      ...sample({ agent: { agent_id, environment }, ...more }),
      name: undefined,
    });
    const create = (body: object) => send('POST', '/v2/deployments', { body });
    const found = (agent_id: string, environment: string) =>
      listed(`agent_id=${encodeURIComponent(agent_id)}&agent_environment=${environment}&limit=100&offset=0`);

    it('makes a name, keeps the agent, and finds this deployment and no other', async () => {
      const id = `Support Bot/${++count}`;
      await service.ready(sample());
      expect(await found(id, 'staging')).toEqual([]);
      const { status, json } = await create(forAgent(id, 'staging'));
      expect(status).toBe(201);
      expect(json.name).toMatch(/^support-bot-\d+-staging-[0-9a-f]{8}$/);
      expect(json.agent).toEqual({ agent_id: id, environment: 'staging' });
      expect((await send('GET', at(json.id))).json.agent).toEqual(json.agent);
      const other = await create(forAgent(id, 'production'));
      expect(other.status).toBe(201);
      expect(await found(id, 'staging')).toEqual([json.name]);
      expect(await found(id, 'production')).toEqual([other.json.name]);
      expect(await listed(`agent_id=${encodeURIComponent(id)}`)).toEqual([other.json.name, json.name]);
      expect(await found(id.toLowerCase(), 'staging')).toEqual([]);
      expect(await listed(`name=${json.name}`)).toEqual([json.name]);
      expect(await listed(`name=${json.name.slice(0, -1)}`)).toEqual([]);
    });

    it('is refused while the agent has a deployment in the environment, whatever its name, until that is deleted', async () => {
      const id = `agent-id-${++count}`;
      const { json } = await create(forAgent(id, 'staging'));
      const named = { ...forAgent(id, 'staging'), name: `named-${count}` };
      const detail = `The agent '${id}' already has a deployment in the environment 'staging'.`;
      expect(await create(named)).toMatchObject({ status: 409, json: { detail } });
      expect(await send('POST', '/v2/deployments?dry_run=true', { body: named })).toMatchObject({ status: 409 });
      expect(await listed(`name_contains=named-${count}`)).toEqual([]);
      await send('DELETE', at(json.id));
      expect(await create(named)).toMatchObject({ status: 201, json: { name: named.name } });
    });

    it('does not take the agent when the name is taken', async () => {
      const id = `agent-id-${++count}`;
      const { json } = await create(sample());
      const again = { ...forAgent(id, 'staging'), name: json.name };
      expect((await create(again)).status).toBe(400);
      expect((await create(forAgent(id, 'staging'))).status).toBe(201);
    });

    it('is another one for another tenant', async () => {
      const id = `agent-id-${++count}`;
      await create(forAgent(id, 'staging'));
      const theirs = forAgent(id, 'staging', {
        source: 'internal_source',
        source_config: {},
        source_revision_config: {},
      });
      const stranger = { body: theirs, as: 'stranger' as const };
      expect((await send('POST', '/v2/deployments', stranger)).status).toBe(201);
    });

    it('needs a name when there is no agent', async () => {
      for (const agent of [undefined, null]) {
        const { status, json } = await create({ ...sample({ agent }), name: undefined });
        expect(status).toBe(422);
        expect(json.detail).toMatchObject([{ type: 'missing', loc: ['body', 'name'] }]);
      }
      const { json } = await create(forAgent('', 'staging'));
      expect(json.detail).toMatchObject([{ loc: ['body', 'agent', 'agent_id'] }]);
    });
  });

  it('filters by everything that the specification names', async () => {
    const prefix = `filter-${++count}`;
    const cloud = await service.ready(sample({ name: `${prefix}-cloud` }));
    const remote = await service.ready(container({ name: `${prefix}-remote` }));
    await send('PUT', at(cloud.id, '/tags'), { body: { tag_value_ids: [uuidOf(70), uuidOf(71)] } });
    const of = (query: string) => listed(`name_contains=${prefix}&${query}`);
    const all = [`${prefix}-remote`, `${prefix}-cloud`];
    expect(await of('')).toEqual(all);
    expect(await of('status=READY')).toEqual(all);
    expect(await of('status=UNUSED')).toEqual([]);
    expect(await of('status=nonsense')).toEqual([]);
    expect(await of('status=')).toEqual(all);
    expect(await of('remote_reconciled=true')).toEqual([`${prefix}-remote`]);
    expect(await of('remote_reconciled=No')).toEqual([`${prefix}-cloud`]);
    expect(await of(`tag_value_ids=${uuidOf(99)},${uuidOf(71)}`)).toEqual([`${prefix}-cloud`]);
    expect(await of(`tag_value_ids=${uuidOf(99)}`)).toEqual([]);
    expect(await of('image_version=1.4.2')).toEqual([`${prefix}-remote`]);
    expect(await of('deployment_type=prod')).toEqual([`${prefix}-cloud`]);
    expect(await of(`deployment_ids=${remote.id},${uuidOf(99)}`)).toEqual([`${prefix}-remote`]);
    expect(await of('unknown=1')).toEqual(all);
  });

  it.each([
    ['limit=0', ['query', 'limit']],
    ['limit=101', ['query', 'limit']],
    ['offset=-1', ['query', 'offset']],
    ['remote_reconciled=maybe', ['query', 'remote_reconciled']],
    ['deployment_type=x', ['query', 'deployment_type']],
    ['tag_value_ids=x', ['query', 'tag_value_ids', 0]],
    [`deployment_ids=${uuidOf(1)},x`, ['query', 'deployment_ids', 1]],
  ])('answers 422 to %s', async (query, loc) => {
    const { status, json } = await send('GET', `/v2/deployments?${query}`);
    expect(status).toBe(422);
    expect(json.detail).toMatchObject([{ loc }]);
  });

  it('is answered 304 to who has it, until it changes', async () => {
    const { id } = await service.ready(sample());
    const url = `/v2/deployments?deployment_ids=${id}`;
    const { headers } = await send('GET', url);
    const known = { headers: { 'if-none-match': String(headers.etag) } };
    expect(headers.etag).toMatch(/^W\/"/);
    expect(await send('GET', url, known)).toMatchObject({ status: 304, text: '' });
    await send('PATCH', at(id), { body: { source_config: { custom_url: 'https://agent.example' } } });
    expect((await send('GET', url, known)).status).toBe(200);
  });

  it('tells how many there are on all pages, when asked to', async () => {
    for (const name of ['counted-1', 'counted-2', 'counted-3', 'counted']) await service.ready(sample({ name }));
    const list = async (query: string) => (await send('GET', `/v2/deployments?${query}`)).json;
    expect(await list('name_contains=COUNTED&limit=2&count=true')).toMatchObject({ total: 4, resources: [{}, {}] });
    expect(await list('name_contains=counted-&offset=9&count=true')).toMatchObject({ total: 3, resources: [] });
    expect((await list('name=counted&count=true')).total).toBe(1);
    expect(await list('name=counted')).not.toHaveProperty('total');
  });

  it('survives text that no name can hold', async () => {
    for (const text of ['%00', '%25', '%F0%9F%99%82', '%5C', "'"]) {
      expect((await send('GET', `/v2/deployments?name_contains=${text}`)).status).toBeLessThan(500);
    }
  });
});

describe('PATCH /v2/deployments/{id}', () => {
  it('rule 1 and 2: answers with the new latest_revision_id only when a revision was made', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    const config = await send('PATCH', at(id), { body: { source_config: { custom_url: 'https://a.example' } } });
    expect(config.json.latest_revision_id).toBe(latest_revision_id);
    expect(config.json.source_config.custom_url).toBe('https://a.example');
    const revised = await send('PATCH', at(id), { body: { source_revision_config: { repo_ref: 'release' } } });
    expect(revised.json.latest_revision_id).not.toBe(latest_revision_id);
    expect(revised.json.source_revision_config).toMatchObject({ repo_ref: 'release', graph_config_path: 'graph.json' });
    expect((await send('GET', at(id))).json).toEqual(revised.json);
    const secrets = await send('PATCH', at(id), { body: { secrets: [{ name: 'TOKEN', value: 'two' }] } });
    expect(secrets.json.latest_revision_id).not.toBe(revised.json.latest_revision_id);
  });

  it('rule 1: equal values change nothing: same edition, no event', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    const before = await service.store.read(streamName('deployment', id));
    const { source_config, source_revision_config, secrets, name, source } = sample();
    const body = { source_config, source_revision_config, secrets, source, name: null, unknown: name };
    const { json, headers } = await send('PATCH', at(id), { body });
    expect(json.latest_revision_id).toBe(latest_revision_id);
    expect(headers.etag).toBe('"2"');
    expect(await service.store.read(streamName('deployment', id))).toEqual(before);
  });

  it('rule 4: is never refused because a revision is in progress', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    await report(id, latest_revision_id, 'BUILDING');
    const answers = await Promise.all(
      [1, 2, 3].map((n) => send('PATCH', at(id), { body: { source_revision_config: { repo_ref: `r${n}` } } })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await report(id, latest_revision_id, 'BUILD_FAILED');
    const { json } = await service.eventually(
      () => send('GET', at(id, '/revisions')),
      (answer) => answer.json.resources[0].status !== 'QUEUED',
    );
    expect(json.resources.map(({ status }: { status: string }) => status)).toEqual([
      'AWAITING_BUILD',
      'SKIPPED',
      'SKIPPED',
      'BUILD_FAILED',
    ]);
  });

  it('rule 4: takes the place of a revision that is not ready yet, and is never refused', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    await report(id, latest_revision_id, 'DEPLOYING');
    const begun: string[] = [latest_revision_id];
    for (const repo_ref of ['r1', 'r2', 'r3', 'r4']) {
      const { status, json } = await send('PATCH', at(id), { body: { source_revision_config: { repo_ref } } });
      expect([status, json.active_revision_id]).toEqual([200, null]);
      if (repo_ref !== 'r4') await report(id, json.latest_revision_id, 'DEPLOYING');
      begun.unshift(json.latest_revision_id);
    }
    const { json } = await service.eventually(
      () => send('GET', at(id, '/revisions')),
      ({ json: { resources } }) => resources[0].id === begun[0] && resources[1].status === 'DEPLOYING',
    );
    const shown = json.resources.map((revision: { id: string; status: string }) => [revision.id, revision.status]);
    // Three were replaced in a row: the next one waits.
    const statuses = ['QUEUED', 'DEPLOYING', 'INTERRUPTED', 'INTERRUPTED', 'INTERRUPTED'];
    expect(shown).toEqual(begun.map((one, nth) => [one, statuses[nth]]));
  });

  it('rule 3: active_revision_id moves when the rollout reports DEPLOYED', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    await report(id, latest_revision_id, 'DEPLOYING');
    expect((await send('GET', at(id))).json.active_revision_id).toBeNull();
    await report(id, latest_revision_id, 'DEPLOYED');
    const { json } = await service.eventually(
      () => send('GET', at(id)),
      (answer) => answer.json.active_revision_id !== null,
    );
    expect(json.active_revision_id).toBe(latest_revision_id);
  });

  it('rule 6: refuses another value for what is fixed, naming it', async () => {
    const { id } = await service.ready(sample());
    const { status, json } = await send('PATCH', at(id), {
      body: { source_config: { repo_url: 'https://other.example' } },
    });
    expect([status, json.detail]).toEqual([400, 'repo_url cannot be changed after creation.']);
  });

  it('rule 11: cpu is kept to a tenth, image_version is the tag', async () => {
    const { id } = await service.ready(container());
    const source_config = { resource_spec: { cpu: 0.26, cpu_limit: '2' } };
    const source_revision_config = { image_uri: 'registry.example/agent:2.0' };
    const { json } = await send('PATCH', at(id), { body: { source_config, source_revision_config } });
    expect(json.source_config.resource_spec).toEqual({ cpu: 0.3, cpu_limit: 2 });
    expect(json.image_version).toBe('2.0');
  });

  it('rule 14: If-Match guards against a change in between', async () => {
    const { id } = await service.ready(sample());
    const { headers } = await send('GET', at(id));
    const change = (ref: string) =>
      send('PATCH', at(id), {
        body: { source_revision_config: { repo_ref: ref } },
        headers: { 'if-match': String(headers.etag) },
      });
    expect((await change('one')).status).toBe(200);
    const late = await change('two');
    expect(late.status).toBe(412);
    expect(late.headers['x-should-retry']).toBe('false');
    expect((await send('DELETE', at(id), { headers: { 'if-match': '"1"' } })).status).toBe(412);
    const current = String((await send('GET', at(id))).headers.etag);
    const tried = async (tag: string) =>
      (await send('PATCH', at(id), { body: { source_config: {} }, headers: { 'if-match': tag } })).status;
    for (const tag of [`W/${current}`, '"abc"', current.replaceAll('"', ''), '"1", "2"']) {
      expect([tag, await tried(tag)]).toEqual([tag, 412]);
    }
    for (const tag of [current, `"1", ${current}`, '*']) expect([tag, await tried(tag)]).toEqual([tag, 200]);
  });

  it("rule 14: If-Match never fails for a deployment's own rollout, and does for another's change", async () => {
    const { json, headers } = await send('POST', '/v2/deployments', { body: sample() });
    await service.eventually(
      () => send('GET', at(json.id)),
      (answer) => answer.json.status === 'READY',
    );
    for (const status of ['BUILDING', 'DEPLOYING', 'DEPLOYED'] as const) {
      await report(json.id, json.latest_revision_id, status);
    }
    const deployed = await service.eventually(
      () => send('GET', at(json.id)),
      (answer) => answer.json.active_revision_id === json.latest_revision_id,
    );
    expect(deployed.headers.etag).toBe(headers.etag);
    const change = (repo_ref: string, tag: unknown, query = '') =>
      send('PATCH', at(json.id, query), {
        body: { source_revision_config: { repo_ref } },
        headers: { 'if-match': String(tag) },
      });
    expect((await change('tried', headers.etag, '?dry_run=true')).status).toBe(200);
    const mine = await change('mine', headers.etag);
    expect(mine.status).toBe(200);
    expect((await send('PATCH', at(json.id), { body: { source_config: { build_command: 'make' } } })).status).toBe(200);
    expect((await change('late', mine.headers.etag)).status).toBe(412);
    expect((await change('late', mine.headers.etag, '?dry_run=true')).status).toBe(412);
    const now = await send('GET', at(json.id));
    expect(now.json.source_revision_config.repo_ref).toBe('mine');
    expect((await change('next', now.headers.etag)).status).toBe(200);
  });

  it('rule 14: an Idempotency-Key makes a repeated PATCH one change', async () => {
    const { id } = await service.ready(sample());
    const change = (ref: string) =>
      send('PATCH', at(id), {
        body: { source_revision_config: { repo_ref: ref } },
        headers: { 'idempotency-key': `key-${id}` },
      });
    const first = await change('one');
    await send('PATCH', at(id), { body: { source_revision_config: { repo_ref: 'main' } } });
    const again = await change('one');
    expect(again.json).toEqual(first.json);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await change('two')).status).toBe(422);
  });

  it('refuses a revision that leaves nothing to run, naming what is missing', async () => {
    const { id } = await service.ready(sample());
    for (const [revision_source, member] of [
      ['internal_source', 'source_tarball_path'],
      ['internal_container', 'image_uri'],
    ]) {
      const { status, json } = await send('PATCH', at(id), { body: { revision_source } });
      expect([status, json.detail]).toEqual([400, expect.stringMatching(`^${member} is required`)]);
    }
  });

  it('answers 422 to a wrong id or member, 400 to a member of another source', async () => {
    const all = await send('PATCH', at('abc', '?dry_run=maybe'), { body: { source: 'zip' } });
    expect(all.json.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([
      ['path', 'deployment_id'],
      ['query', 'dry_run'],
      ['body', 'source'],
    ]);
    const { id } = await service.ready(sample());
    const wrong = await send('PATCH', at(id), { body: { revision_source: 'external_container' } });
    expect(wrong.json.detail[0]).toMatchObject({
      loc: ['body', 'revision_source'],
      msg: "Input should be 'codehost', 'internal_container' or 'internal_source'",
    });
    const other = await send('PATCH', at(id), { body: { secret_references: [] } });
    expect(other.json.detail).toBe("secret_references is not allowed when source is 'codehost'.");
  });
});

describe('the values of secrets are told to no key without secrets:read', () => {
  const guesses = ['one', 'wrong'] as const;

  it('by a dry run: every value that is sent counts as changed', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    const tried = async (value: string, as: Sent['as']) => {
      const body = { secrets: [{ name: 'TOKEN', value }] };
      const { status, headers, json } = await send('PATCH', at(id, '?dry_run=true'), { as, body });
      const { latest_revision_id: revision, updated_at, ...rest } = json;
      const changes = [revision !== latest_revision_id, Date.parse(updated_at) > 0];
      return { status, etag: headers.etag, length: headers['content-length'], changes, rest };
    };
    const [right, wrong] = [await tried('one', 'writer'), await tried('wrong', 'writer')];
    expect(right).toEqual(wrong);
    expect(right.changes).toEqual([true, true]);
    expect((await tried('one', 'auditor')).changes[0]).toBe(false);
    expect((await tried('wrong', 'auditor')).changes[0]).toBe(true);
  });

  it('by a PATCH that is refused where a wrong value would be', async () => {
    const { id } = await service.ready(sample());
    const labels = { filler: 'x'.repeat(999_200) };
    const large = await send('PATCH', at(id), { body: { source_config: { resource_spec: { labels } } } });
    expect(large.status).toBe(200);
    const before = await service.store.read(streamName('deployment', id));
    const statuses = [];
    for (const value of guesses) {
      statuses.push((await send('PATCH', at(id), { body: { secrets: [{ name: 'TOKEN', value }] } })).status);
    }
    expect(statuses).toEqual([413, 413]);
    expect(await service.store.read(streamName('deployment', id))).toEqual(before);
  });

  it('by the digests that the history shows of other values', async () => {
    const { id } = await service.ready(sample());
    const secrets = [
      { name: 'TOKEN', value: '********' },
      { name: 'GUESS', value: 'one' },
      { name: 'OTHER', value: 'one' },
    ];
    expect((await send('PATCH', at(id), { body: { secrets } })).status).toBe(200);
    const { json } = await send('PATCH', at(id), { body: { secrets: [{ name: 'TOKEN', value: 'two' }] } });
    await send('PATCH', at(id), { body: { secrets: [{ name: 'TOKEN', value: 'one' }] } });
    // An equal value is still known to be equal.
    const { headers } = await send('PATCH', at(id), { body: { secrets: [{ name: 'TOKEN', value: 'one' }] } });
    expect(headers.etag).toBe('"8"');
    expect(json.secrets).toHaveLength(1);
    const { resources } = (await send('GET', at(id, '/history?limit=100'))).json as {
      resources: { type: string; changes: { member: string; before: unknown; after: unknown }[] }[];
    };
    const shown = resources
      .flatMap(({ changes }) => changes)
      .filter(({ member, after }) => member.startsWith('secrets.') && after !== null)
      .map(({ after }) => after);
    expect(shown.length).toBeGreaterThan(4);
    expect(new Set(shown).size).toBe(shown.length);
  });

  it('recognises values that were sealed by earlier versions', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    const stream = streamName('deployment', id);
    const { state, version } = await load(service.store, deploymentModel, stream);
    const digest = await service.app.get(Vault).digest(id, 'one');
    const secrets = [{ ...state!.secrets[0]!, digest }];
    await service.store.append(stream, version, [{ type: 'DeploymentPatched', data: { secrets } }], {});
    const body = { secrets: [{ name: 'TOKEN', value: 'one' }] };
    expect((await send('PATCH', at(id), { body })).json.latest_revision_id).toBe(latest_revision_id);
  });
});

describe('rule 14: dry run', () => {
  it('answers what POST would, and writes nothing', async () => {
    const body = sample();
    const head = await service.store.head();
    const { status, headers, json } = await send('POST', '/v2/deployments?dry_run=true', { body });
    expect([status, headers['x-dry-run']]).toEqual([201, 'true']);
    expect(json).toMatchObject({
      name: body.name,
      status: 'AWAITING_DATABASE',
      secrets: [{ name: 'TOKEN', value: '********' }],
    });
    expect((await send('GET', at(json.id))).status).toBe(404);
    expect((await service.database.pool.query('select from data_keys where subject = $1', [json.id])).rowCount).toBe(0);
    expect(await service.store.head()).toBe(head);
    expect((await send('POST', '/v2/deployments', { body })).status).toBe(201);
    expect((await send('POST', '/v2/deployments?dry_run=1', { body })).json.detail).toMatch(/already exists/);
  });

  it('answers what PATCH would, and writes nothing', async () => {
    const { id, latest_revision_id } = await service.ready(sample());
    const before = await send('GET', at(id));
    const body = { secrets: [{ name: 'NEW', value: 'x' }], source_revision_config: { repo_ref: 'release' } };
    const { status, headers, json } = await send('PATCH', at(id, '?dry_run=true'), { body });
    expect([status, headers['x-dry-run']]).toEqual([200, 'true']);
    expect(json.secrets).toEqual([{ name: 'NEW', value: '********' }]);
    expect(json.latest_revision_id).not.toBe(latest_revision_id);
    expect((await send('GET', at(id))).text).toBe(before.text);
    const stale = { 'if-match': '"1"' };
    expect((await send('PATCH', at(id, '?dry_run=true'), { body, headers: stale })).status).toBe(412);
    const fresh = { 'if-match': String(before.headers.etag) };
    expect((await send('PATCH', at(id, '?dry_run=true'), { body, headers: fresh })).status).toBe(200);
    const kept = await send('PATCH', at(id, '?dry_run=true'), {
      body: { secrets: [{ name: 'TOKEN', value: '********' }] },
    });
    expect(kept.json.latest_revision_id).toBe(latest_revision_id);
    expect(
      (await send('PATCH', at(id, '?dry_run=true'), { body: { source_config: { repo_url: 'https://x.example' } } }))
        .status,
    ).toBe(400);
  });
});

describe('dry_run=plan', () => {
  const planned = async (method: 'POST' | 'PATCH' | 'DELETE', url: string, sent: Sent = {}) => {
    const head = await service.store.head();
    const { status, headers, json } = await send(method, `${url}?dry_run=plan`, sent);
    expect([status, headers['x-dry-run']]).toEqual([200, 'true']);
    expect(await service.store.head()).toBe(head);
    return json as { changes: { member: string; before: unknown; after: unknown }[]; etag: string | null };
  };

  it('tells what a PATCH would change, secrets by digest, and from which edition', async () => {
    const { id } = await service.ready(sample());
    const secrets = [
      { name: 'TOKEN', value: '********' },
      { name: 'NEW', value: 'a-planned-secret' },
    ];
    const body = { source_revision_config: { repo_ref: 'release' }, secrets };
    const plan = await planned('PATCH', at(id), { body, headers: { 'idempotency-key': id } });
    expect(plan).toEqual({
      changes: [
        { member: 'source_revision_config.repo_ref', before: 'main', after: 'release' },
        { member: 'secrets.NEW', before: null, after: 'new value' },
      ],
      creates_revision: true,
      pauses_push: false,
      etag: '"2"',
    });
    const custom = { source_config: { custom_url: 'https://agent.example' } };
    expect(await planned('PATCH', at(id), { body: custom })).toMatchObject({
      changes: [{ member: 'source_config.custom_url', before: null, after: 'https://agent.example' }],
      creates_revision: false,
    });
    expect(await planned('PATCH', at(id), { body: {} })).toMatchObject({ changes: [], creates_revision: false });
    const headers = { 'if-match': plan.etag! };
    expect((await send('PATCH', at(id), { body: custom, headers })).status).toBe(200);
    expect((await send('PATCH', at(id, '?dry_run=plan'), { body, headers })).status).toBe(412);
  });

  it('tells what a POST would make', async () => {
    const body = sample();
    const plan = await planned('POST', '/v2/deployments', { body });
    expect(plan).toMatchObject({ creates_revision: true, pauses_push: false, etag: null });
    expect(plan.changes).toContainEqual({ member: 'name', before: null, after: body.name });
    expect(plan.changes).toContainEqual({ member: 'secrets.TOKEN', before: null, after: 'new value' });
    expect((await send('POST', '/v2/deployments', { body })).status).toBe(201);
    expect((await send('POST', '/v2/deployments?dry_run=plan', { body })).status).toBe(400);
  });

  it('tells what a roll-back would change, and that it pauses pushes', async () => {
    const pushed = { ...sample().source_config, build_on_push: true };
    const { id, latest_revision_id: first } = await service.ready(sample({ source_config: pushed }));
    await send('PATCH', at(id), { body: { source_revision_config: { repo_ref: 'release' } } });
    const url = at(id, `/revisions/${first}/redeploy`);
    expect(await planned('POST', url)).toEqual({
      changes: [
        { member: 'source_config.build_on_push', before: true, after: false },
        { member: 'source_revision_config.repo_ref', before: 'release', after: 'main' },
      ],
      creates_revision: true,
      pauses_push: true,
      etag: '"4"',
    });
    const tried = await send('POST', `${url}?dry_run=true`);
    expect(tried).toMatchObject({ status: 200, json: { id, source_revision_config: { repo_ref: 'main' } } });
    expect((await send('GET', at(id))).json.source_revision_config.repo_ref).toBe('release');
    const unknown = await send('POST', `${url}?skip_commit=true`);
    expect([unknown.status, unknown.text]).toEqual([409, expect.stringContaining('not known yet, try again')]);
  });

  it('tells what a deletion would do, of one or of several', async () => {
    const { id } = await service.ready(sample());
    expect(await planned('DELETE', at(id))).toEqual({
      changes: [{ member: 'status', before: 'READY', after: 'AWAITING_DELETE' }],
      creates_revision: false,
      pauses_push: false,
      etag: '"2"',
    });
    expect((await send('DELETE', at(id, '?dry_run=true'))).status).toBe(204);
    const many = await send('DELETE', `/v2/deployments?deployment_ids=${id},${uuidOf(404)}&dry_run=true`);
    expect(many).toMatchObject({ status: 207, json: { deleted: [id] }, headers: { 'x-dry-run': 'true' } });
    expect((await send('GET', at(id))).json.status).toBe('READY');
    expect((await send('DELETE', at(id, '?dry_run=maybe'))).status).toBe(422);
    expect((await send('DELETE', at(uuidOf(404), '?dry_run=plan'))).status).toBe(404);
  });
});

describe('DELETE', () => {
  it('answers 204, the deployment goes, its name is free at once', async () => {
    const body = sample();
    const { id } = await service.ready(body);
    const { status, text } = await send('DELETE', at(id, '?delete_tracing_project=true'));
    expect([status, text]).toEqual([204, '']);
    expect((await send('POST', '/v2/deployments', { body })).status).toBe(201);
    const gone = await service.eventually(
      () => send('GET', at(id)),
      (answer) => answer.status === 404,
    );
    expect(gone.json).toEqual({ detail: `Deployment ID ${id} not found.` });
    expect((await send('PATCH', at(id), { body: {} })).status).toBe(404);
    expect((await send('DELETE', at(id))).status).toBe(404);
    expect(await listed(`deployment_ids=${id}`)).toEqual([]);
    const events = await service.store.read(streamName('deployment', id));
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['DeploymentDeletionRequested', 'DeploymentDeleted']);
    expect(events.at(-2)!.data).toMatchObject({ delete_tracing_project: true });
  });

  it('leaves the tracing project where it is unless it is asked to take it along', async () => {
    const { id } = await service.ready(sample());
    await send('DELETE', at(id));
    const events = await service.store.read(streamName('deployment', id));
    expect(events.find(({ type }) => type === 'DeploymentDeletionRequested')?.data).toMatchObject({
      delete_tracing_project: false,
    });
  });

  it('rule 9: is AWAITING_DELETE until it is removed; what would change it meanwhile is answered 409', async () => {
    const { id, latest_revision_id: rid } = await service.ready(sample());
    const append = service.store.append.bind(service.store);
    const spy = jest.spyOn(service.store, 'append').mockImplementation((stream, version, events, metadata) => {
      if (events[0]?.type === 'DeploymentDeleted') return Promise.reject(new Error('Not yet.'));
      return append(stream, version, events, metadata);
    });
    try {
      expect((await send('DELETE', at(id))).status).toBe(204);
      expect((await send('GET', at(id))).json.status).toBe('AWAITING_DELETE');
      const changes = [
        send('PATCH', at(id), { body: { source_revision_config: { repo_ref: 'late' } } }),
        send('PUT', at(id, '/tags'), { body: { tag_value_ids: [] } }),
        send('POST', at(id, `/revisions/${rid}/redeploy`)),
        send('POST', at(id, '/upload-url')),
      ];
      for (const { status, json, headers } of await Promise.all(changes)) {
        expect([status, json.detail]).toEqual([409, `Deployment ID ${id} is being deleted.`]);
        expect(headers['x-should-retry']).toBe('false');
      }
      expect((await send('DELETE', at(id))).status).toBe(204);
    } finally {
      spy.mockRestore();
    }
    const gone = await service.eventually(
      () => send('GET', at(id)),
      ({ status }) => status === 404,
    );
    expect(gone.status).toBe(404);
  });

  it('of many answers 200, 207 when some are not there, 404 when none is', async () => {
    const [a, b] = [await service.ready(sample()), await service.ready(sample())];
    const some = await send('DELETE', `/v2/deployments?deployment_ids=${a.id}&deployment_ids=${uuidOf(404)}`);
    expect([some.status, some.json]).toEqual([
      207,
      {
        deleted: [a.id],
        failed: [{ deployment_id: uuidOf(404), detail: `Deployment ID ${uuidOf(404)} not found.` }],
      },
    ]);
    const all = await send('DELETE', `/v2/deployments?deployment_ids=${b.id}`);
    expect([all.status, all.json]).toEqual([200, { deleted: [b.id], failed: [] }]);
    const none = await send('DELETE', `/v2/deployments?deployment_ids=${uuidOf(404)}`);
    expect([none.status, none.json]).toEqual([404, { detail: `Deployment ID ${uuidOf(404)} not found.` }]);
    expect((await send('DELETE', '/v2/deployments')).status).toBe(422);
    const many = (length: number) =>
      send(
        'DELETE',
        `/v2/deployments?${Array.from({ length }, (_, n) => `deployment_ids=${uuidOf(2000 + n)}`).join('&')}`,
      );
    expect((await many(101)).status).toBe(422);
    expect((await many(100)).status).toBe(404);
  });

  it('of many deletes one that is named twice once, frees its name, and takes tracing projects along if asked to', async () => {
    const body = sample();
    const { id } = await service.ready(body);
    const both = `deployment_ids=${id}&deployment_ids=${id.toUpperCase()}&delete_tracing_project=true`;
    const { status, json } = await send('DELETE', `/v2/deployments?${both}`);
    expect([status, json]).toEqual([200, { deleted: [id], failed: [] }]);
    const events = await service.store.read(streamName('deployment', id));
    expect(events.find(({ type }) => type === 'DeploymentDeletionRequested')?.data).toMatchObject({
      delete_tracing_project: true,
    });
    expect((await send('POST', '/v2/deployments', { body })).status).toBe(201);
  });
});

describe('PUT /v2/deployments/{id}/tags', () => {
  it('replaces the tag values', async () => {
    const { id } = await service.ready(sample());
    const put = (...tag_value_ids: string[]) => send('PUT', at(id, '/tags'), { body: { tag_value_ids } });
    expect((await put(uuidOf(1), uuidOf(2))).json).toEqual({ tag_value_ids: [uuidOf(1), uuidOf(2)] });
    expect((await put()).json).toEqual({ tag_value_ids: [] });
    expect((await put('x')).json.detail[0].loc).toEqual(['body', 'tag_value_ids', 0]);
  });
});

describe('replay', () => {
  it('rule 14: answers with the deployment as of a version', async () => {
    const { id } = await service.ready(sample());
    await send('PATCH', at(id), { body: { source_revision_config: { repo_ref: 'release' } } });
    const first = await send('GET', at(id, '?version=2'));
    expect(first.json).toMatchObject({ status: 'AWAITING_DATABASE', source_revision_config: { repo_ref: 'main' } });
    expect(first.headers.etag).toBe('"2"');
    expect((await send('GET', at(id, '?version=5'))).json).toEqual((await send('GET', at(id))).json);
    expect(await send('GET', at(id, '?version=6'))).toMatchObject({
      status: 404,
      json: { detail: `Version 6 of deployment ID ${id} not found: its newest version is 5.` },
    });
    expect((await send('GET', at(id, '?version=0'))).status).toBe(422);
  });

  it('rule 14: answers with the deployment as of a time, 404 before it was created and after its removal', async () => {
    const { id } = await service.ready(sample());
    const before = (await send('GET', at(id))).json;
    await service.eventually(
      () => send('PATCH', at(id), { body: { source_revision_config: { repo_ref: `r${Date.now()}` } } }),
      ({ json }) => json.updated_at > before.updated_at,
    );
    await send('DELETE', at(id));
    await service.eventually(
      () => send('GET', at(id)),
      (answer) => answer.status === 404,
    );
    const seen = await send('GET', at(id, `?at=${before.updated_at}`));
    expect(seen.json).toMatchObject({ id, source_revision_config: { repo_ref: 'main' } });
    expect((await send('GET', at(id, '?at=2020-01-01T00:00:00Z'))).status).toBe(404);
    expect((await send('GET', at(id, '?at=2999-01-01'))).status).toBe(404);
    expect((await send('GET', at(id, '?at=yesterday'))).status).toBe(422);
    expect((await send('GET', at(id, '?at=2999-01-01&version=1'))).status).toBe(400);
  });

  it('rule 14: leaves out nothing before an event that it answers with, also where the times go back', async () => {
    const { id } = await service.ready(sample());
    await send('PATCH', at(id), { body: { source_revision_config: { repo_ref: 'later' } } });
    const stream = streamName('deployment', id);
    const events = await service.store.read(stream);
    const patched = events.find(({ type }) => type === 'DeploymentPatched')!;
    // Five minutes ahead of the clock that wrote what comes before and after it.
    const ahead = new Date(Date.parse(patched.time) + 300_000).toISOString();
    const parts = jest.spyOn(service.store, 'parts').mockImplementation(async function* (name, after = 0) {
      const told = events.map((event) => (event === patched ? { ...event, time: ahead } : event));
      // A part for each event, as of a store whose events are large.
      if (name === stream) for (const event of told.slice(after)) yield [event];
    });
    try {
      const then = (await send('GET', at(id, `?at=${events.at(-1)!.time}`))).json;
      expect(then.source_revision_config.repo_ref).toBe('main');
      const before = (await send('GET', at(id, `?version=${patched.version - 1}`))).json;
      expect(then).toEqual(before);
      const late = (await send('GET', at(id, `?at=${ahead}`))).json;
      expect(late).toEqual((await send('GET', at(id, `?version=${events.length}`))).json);
    } finally {
      parts.mockRestore();
    }
  });
});

describe('tenancy and scopes', () => {
  it('another tenant’s deployment is answered like a missing one, everywhere', async () => {
    const { id, latest_revision_id: rid } = await service.ready(sample());
    const missing = { status: 404, json: { detail: `Deployment ID ${id} not found.` } };
    const attempts: [Parameters<TestService['send']>[0], string, unknown?][] = [
      ['GET', ''],
      ['GET', '?version=1'],
      ['GET', '?at=2999-01-01'],
      ['GET', '/history'],
      ['GET', '/revisions'],
      ['GET', `/revisions/${rid}`],
      ['GET', `/revisions/${rid}/wait?timeout=0`],
      ['GET', `/revisions/${rid}/diff/${rid}`],
      ['PATCH', '', {}],
      ['PATCH', '?dry_run=true', {}],
      ['PATCH', '', { secrets: [{ name: 'A', value: 'b' }] }],
      ['PUT', '/tags', { tag_value_ids: [] }],
      ['POST', `/revisions/${rid}/redeploy`],
      ['POST', `/revisions/${rid}/interrupt`],
      ['DELETE', ''],
    ];
    for (const [method, rest, body] of attempts) {
      expect(await send(method, at(id, rest), { as: 'stranger', body })).toMatchObject(missing);
    }
    expect(await send('DELETE', `/v2/deployments?deployment_ids=${id}`, { as: 'stranger' })).toMatchObject(missing);
    const list = await send('GET', `/v2/deployments?deployment_ids=${id}`, { as: 'stranger' });
    expect(list.json.resources).toEqual([]);
    expect((await send('GET', at(id))).status).toBe(200);
  });

  it('a key that only reads cannot write', async () => {
    const { id } = await service.ready(sample());
    expect((await send('GET', at(id), { as: 'reader' })).status).toBe(200);
    expect((await send('PATCH', at(id), { as: 'reader', body: {} })).status).toBe(403);
    expect((await send('GET', at(id), { as: 'nobody' })).status).toBe(401);
    expect(OTHER_TENANT).not.toBe(TENANT);
  });
});

describe('rule 8: source availability', () => {
  it('a source that HOSTING excludes is refused', async () => {
    const cloud = await TestService.start('cloud');
    try {
      const refused = await cloud.send('POST', '/v2/deployments', { body: container() });
      expect([refused.status, refused.json.detail]).toEqual([
        400,
        "source 'external_container' is available only for self-hosted deployments.",
      ]);
      expect((await cloud.send('POST', '/v2/deployments', { body: sample() })).status).toBe(201);
    } finally {
      await cloud.stop();
    }
  });
});
