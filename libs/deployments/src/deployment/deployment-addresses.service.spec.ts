import { streamName } from '@fairlead/eventing';
import { REPOSITORY } from '../testing/samples';
import { TestService } from '../testing/service';

const AT = 'http://localhost:80';

let service: TestService;
let url: string;
let address: string;
/** Text that the running program answers with; undefined while none runs. */
let running: string | undefined;

beforeAll(async () => {
  service = await TestService.start(
    'any',
    {},
    {
      pathOf: (_, id) => (id === running ? `/apps/${id}` : undefined),
      uses: () => [],
      logged: { kept: 0, dropped: 0 },
    },
  );
  const { id, source_config } = await service.ready({
    ...{ name: 'agent', source: 'codehost', source_config: REPOSITORY },
    source_revision_config: { repo_ref: 'main' },
    secrets: [],
  });
  url = `/v2/deployments/${id}`;
  address = `${AT}/apps/${id}`;
  expect(source_config).toMatchObject({ custom_url: null });
  running = id;
});
afterAll(() => service.stop());

const patch = (custom_url: string, more = '', headers = {}) =>
  service.send('PATCH', url + more, { body: { source_config: { custom_url } }, headers });
const events = async () => (await service.store.read(streamName('deployment', running!))).length;

it('is in every answer while a program runs here, without being stored', async () => {
  const before = await service.send('GET', url);
  expect(before.json.source_config.custom_url).toBe(address);
  const { json } = await service.send('GET', '/v2/deployments');
  expect(json.resources[0].source_config.custom_url).toBe(address);
  running = undefined;
  const after = await service.send('GET', url);
  running = json.resources[0].id;
  expect(after.json.source_config.custom_url).toBeNull();
  expect(after.headers.etag).toBe(before.headers.etag);
});

it('that is sent back changes nothing, under the condition of its version', async () => {
  const etag = String((await service.send('GET', url)).headers.etag);
  const count = await events();
  const kept = await patch(address, '', { 'if-match': etag });
  expect([kept.status, kept.json.source_config.custom_url, kept.headers.etag]).toEqual([200, address, etag]);
  expect((await patch(address, '', { 'if-match': '"0"' })).status).toBe(412);
  expect((await patch(address, '?dry_run=plan')).json).toMatchObject({ changes: [] });
  expect(await events()).toBe(count);
});

it('gives way to one that is set, and comes back when it is sent', async () => {
  const own = 'https://agent.example/';
  expect((await patch(own, '?dry_run=true')).json.source_config.custom_url).toBe(own);
  expect((await patch(own)).json.source_config.custom_url).toBe(own);
  expect((await service.send('GET', url)).json.source_config.custom_url).toBe(own);
  expect((await patch(address)).json.source_config.custom_url).toBe(address);
  expect((await service.send('GET', url)).json.source_config.custom_url).toBe(address);
});

it('is not told to a request that names another host', async () => {
  const headers = { host: 'elsewhere.example' };
  expect((await service.send('GET', url, { headers })).json.source_config.custom_url).toBeNull();
  const { json } = await service.send('GET', '/v2/deployments', { headers });
  expect(json.resources[0].source_config.custom_url).toBeNull();
});

it('is that of each caller when an answer is repeated for an Idempotency-Key', async () => {
  const told: unknown[] = [];
  for (const host of ['localhost:80', '127.0.0.1:4600', 'elsewhere.example']) {
    const headers = { host, 'idempotency-key': 'once' };
    const { json, headers: said } = await patch('', '', headers);
    told.push([said['idempotent-replayed'], json.source_config.custom_url]);
  }
  expect(told).toEqual([
    [undefined, address],
    ['true', `http://127.0.0.1:4600/apps/${running}`],
    ['true', null],
  ]);
});
