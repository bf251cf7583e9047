import { LISTENER, REPOSITORY } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
  await service.listener();
});
afterAll(() => service.stop());

const FREE_FORM = [
  ...['configMap', 'secret', 'emptyDir', 'persistentVolumeClaim', 'nfs', 'projected', 'downwardAPI', 'csi'],
  ...['valueFrom', 'envFrom', 'securityContext', 'labels', 'annotations', 'limits', 'requests'],
];
const anything = { text: 'a', number: 1.5, nothing: null, list: [{ deep: [true] }], cache_cpu: 'kept', '': {} };

const volumeMount = {
  name: 'data',
  mountPath: '/data',
  subPath: 'a',
  mountPropagation: 'None',
  readOnly: true,
  subPathExpr: '$(POD)',
};
const container = {
  name: 'helper',
  image: 'registry.example/helper:1',
  imagePullPolicy: 'Always',
  command: ['/bin/sh'],
  args: ['-c', 'true'],
  workingDir: '/',
  env: [{ name: 'A', value: 'b', valueFrom: anything }],
  envFrom: [anything],
  resources: { limits: { cpu: 1, memory: '1Gi' }, requests: { cpu: '500m' } },
  volumeMounts: [volumeMount],
  securityContext: anything,
  restartPolicy: 'Always',
};
const volume = {
  name: 'data',
  ...Object.fromEntries(FREE_FORM.slice(0, 8).map((kind) => [kind, anything])),
};
const sized = (prefix: string) => ({
  [`${prefix}cpu`]: 0.5,
  [`${prefix}cpu_limit`]: 2.5,
  [`${prefix}memory_mb`]: 512,
  [`${prefix}memory_limit_mb`]: 1024,
});
const scaled = (prefix: string) => ({ [`${prefix}min_scale`]: 1, [`${prefix}max_scale`]: 10 });
const full: Record<string, unknown> = {
  ...['', 'queue_', 'orchestrator_', 'executor_', 'cache_', 'db_'].reduce(
    (all, part) => ({ ...all, ...sized(part) }),
    {},
  ),
  ...['', 'queue_', 'orchestrator_'].reduce((all, part) => ({ ...all, ...scaled(part) }), {}),
  db_storage_gi: 20,
  db_max_connections: 100,
  labels: { team: 'agents', __proto__x: 'kept', size: 1, old: false },
  annotations: { 'example.com/owner': 'me' },
  service_account_name: 'runner',
  image_pull_secrets: [{ name: 'registry' }],
  volumes: [volume],
  volume_mounts: [volumeMount],
  init_containers: [container],
  sidecars: [container, { name: 'small', image: 'small:1' }],
};

let count = 0;
const post = (resource_spec: unknown) => {
  const body = {
    name: `sized-${++count}`,
    source: 'codehost',
    source_config: { ...REPOSITORY, resource_spec },
    source_revision_config: {},
    secrets: [],
  };
  return service.send('POST', '/v2/deployments', { body });
};

/** Every place of the full specification that has a type of its own. */
function places(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  const here = path.length > 0 ? [path] : [];
  if (typeof value !== 'object' || value === null || FREE_FORM.includes(String(path.at(-1)))) return here;
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [...here, ...entries.flatMap(([key, inner]: [string | number, unknown]) => places(inner, [...path, key]))];
}

function valueAt(value: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

function replaced(value: unknown, [key, ...rest]: (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

function wrongFor(right: unknown): { wrong: unknown; types: string[] } {
  if (typeof right === 'number') return { wrong: 'many', types: ['int_parsing', 'float_parsing'] };
  if (typeof right === 'string') return { wrong: 5, types: ['string_type'] };
  if (typeof right === 'boolean') return { wrong: 'maybe', types: ['bool_parsing'] };
  if (Array.isArray(right)) return { wrong: 'x', types: ['list_type'] };
  return { wrong: ['x'], types: ['dict_type', 'model_attributes_type'] };
}

describe('resource_spec', () => {
  it('has the 40 members of the specification', () => expect(Object.keys(full)).toHaveLength(40));

  it('comes back unchanged from POST, GET, PATCH and the list, with every member', async () => {
    const created = await post(full);
    expect(created.status).toBe(201);
    expect(created.json.source_config.resource_spec).toEqual(full);
    const url = `/v2/deployments/${created.json.id}`;
    expect((await service.send('GET', url)).json.source_config.resource_spec).toEqual(full);
    const body = { source_config: { resource_spec: full } };
    const patched = await service.send('PATCH', url, { body });
    expect(patched.json.source_config.resource_spec).toEqual(full);
    expect(patched.json.latest_revision_id).toBe(created.json.latest_revision_id);
    const list = await service.send('GET', `/v2/deployments?deployment_ids=${created.json.id}`);
    expect(list.json.resources[0].source_config.resource_spec).toEqual(full);
  });

  it('comes back in the real wire’s names, free-form objects untouched', async () => {
    const { json } = await post(full);
    const wire = await service.send('GET', `/api-host/v2/deployments/${json.id}`);
    const renamed = Object.fromEntries(
      Object.entries(full).map(([member, value]) => [member.replace(/^cache_/, 'redis_'), value]),
    );
    expect(wire.json.source_config.resource_spec).toEqual(renamed);
  });

  it('keeps what is not set out, and takes null for absent', async () => {
    const { json } = await post({ cpu: 1, memory_mb: null, unknown: 1 });
    expect(json.source_config.resource_spec).toEqual({ cpu: 1 });
  });

  it('answers 422 with its place to each member of a wrong type', async () => {
    for (const path of places(full)) {
      const { wrong, types } = wrongFor(valueAt(full, path));
      const { status, json } = await post(replaced(full, path, wrong));
      expect([path, status, json.detail.length]).toEqual([path, 422, 1]);
      expect(json.detail[0].loc).toEqual(['body', 'source_config', 'resource_spec', ...path]);
      expect(types).toContain(json.detail[0].type);
    }
  });

  it.each(['cpu', 'queue_cpu', 'cache_cpu'])('%s is 0.1 to 8, its limit 0.1 to 16', async (member) => {
    const types = async (spec: object) =>
      ((await post(spec)).json.detail as { type: string }[] | undefined)?.map(({ type }) => type);
    expect(await types({ [member]: 0.05, [`${member}_limit`]: 0.05 })).toEqual([
      'greater_than_equal',
      'greater_than_equal',
    ]);
    expect(await types({ [member]: 8.1, [`${member}_limit`]: 16.1 })).toEqual(['less_than_equal', 'less_than_equal']);
    expect(await types({ [member]: 0.1, [`${member}_limit`]: 16 })).toBeUndefined();
    expect(await types({ [member]: 8 })).toBeUndefined();
  });

  it.each(places(full).filter((path) => typeof valueAt(full, path) === 'number'))(
    '%s is never negative',
    async (...path) => {
      const { status, json } = await post(replaced(full, path, -1));
      expect([status, json.detail]).toMatchObject([
        422,
        [{ type: 'greater_than_equal', loc: ['body', 'source_config', 'resource_spec', ...path] }],
      ]);
    },
  );

  it('may scale to nothing, but has no memory, storage or connections of nothing', async () => {
    expect((await post({ min_scale: 0, queue_min_scale: 0, orchestrator_max_scale: 0 })).status).toBe(201);
    const nothing = { memory_mb: 0, db_storage_gi: 0, db_max_connections: 0, executor_cpu: 0 };
    expect((await post(nothing)).json.detail).toHaveLength(4);
  });

  it.each(['', 'queue_', 'orchestrator_'])('%smin_scale is at most max_scale, also of what is stored', async (part) => {
    const [least, most] = [`${part}min_scale`, `${part}max_scale`];
    const detail = `${least} (3) must not be greater than ${most} (2).`;
    expect(await post({ [least]: 3, [most]: 2 })).toMatchObject({ status: 400, json: { detail } });
    const { json } = await post({ [least]: 2, [most]: 2 });
    const patch = (resource_spec: object) =>
      service.send('PATCH', `/v2/deployments/${json.id}`, { body: { source_config: { resource_spec } } });
    expect(await patch({ [least]: 3 })).toMatchObject({ status: 400, json: { detail } });
    expect((await patch({ [least]: 3, [most]: 3 })).status).toBe(200);
  });

  it.each(['cpu', 'memory'])('%s is at most its limit', async (kind) => {
    const [least, most] = kind === 'cpu' ? ['db_cpu', 'db_cpu_limit'] : ['memory_mb', 'memory_limit_mb'];
    const { status, json } = await post({ [least]: 2, [most]: 1 });
    expect([status, json.detail]).toEqual([400, `${least} (2) must not be greater than ${most} (1).`]);
  });

  it('has no empty names', async () => {
    const empty = { name: '', image: '', env: [{ name: '' }] };
    const { json } = await post({ sidecars: [empty], image_pull_secrets: [{ name: '' }] });
    expect(json.detail.map((problem: { type: string; loc: unknown[] }) => [problem.type, problem.loc.at(-1)])).toEqual([
      ['string_too_short', 'name'],
      ['string_too_short', 'name'],
      ['string_too_short', 'image'],
      ['string_too_short', 'name'],
    ]);
  });

  it('names what a container, a variable or a pull secret lacks', async () => {
    const { json } = await post({
      sidecars: [{}],
      init_containers: [{ ...container, env: [{}] }],
      image_pull_secrets: [{}],
    });
    const loc = (...path: (string | number)[]) => ['body', 'source_config', 'resource_spec', ...path];
    expect(json.detail.map((problem: { loc: unknown }) => problem.loc)).toEqual([
      loc('image_pull_secrets', 0, 'name'),
      loc('init_containers', 0, 'env', 0, 'name'),
      loc('sidecars', 0, 'name'),
      loc('sidecars', 0, 'image'),
    ]);
  });

  it('belongs to every source', async () => {
    const listener = { listener_id: LISTENER, resource_spec: { cpu: 1 } };
    const body = {
      name: 'remote',
      source: 'external_container',
      source_config: listener,
      source_revision_config: {},
      secrets: [],
    };
    expect((await service.send('POST', '/v2/deployments', { body })).status).toBe(201);
  });
});
