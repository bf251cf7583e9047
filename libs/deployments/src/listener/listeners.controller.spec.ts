import { TENANT } from '@fairlead/edge/testing';
import { uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
beforeAll(async () => (service = await TestService.start()));
afterAll(() => service.stop());

const send: TestService['send'] = (...request) => service.send(...request);
const body = (compute_id: string) => ({
  version: '1.0',
  compute_type: 'k8s',
  compute_id,
  compute_config: { cluster_namespaces: ['agents'] },
});

describe('listeners', () => {
  it('are made, read, changed and deleted', async () => {
    const created = await send('POST', '/v2/listeners', { body: body('cluster-1') });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      ...body('cluster-1'),
      id: expect.any(String),
      created_at: expect.any(String),
      updated_at: created.json.created_at,
    });
    const at = `/v2/listeners/${created.json.id}`;
    expect((await send('GET', at)).json).toEqual(created.json);
    expect((await send('GET', '/v2/listeners')).json).toEqual({ resources: [created.json], offset: 1 });
    const patched = await send('PATCH', at, { body: { version: '1.1', compute_config: null } });
    expect(patched.json).toMatchObject({ version: '1.1', compute_config: { cluster_namespaces: ['agents'] } });
    for (const compute_config of [{}, { cluster_namespaces: null }, { k8s_namespaces: ['agents'] }]) {
      expect((await send('PATCH', at, { body: { compute_config } })).json).toEqual(patched.json);
    }
    expect((await send('PATCH', at, { body: { version: '1.1' } })).headers.etag).toBe(patched.headers.etag);
    const stale = await send('PATCH', at, { body: { version: '2' }, headers: { 'if-match': '"1"' } });
    expect(stale.status).toBe(412);
    expect((await send('DELETE', at)).status).toBe(204);
    expect((await send('GET', at)).json).toEqual({ detail: `Listener ID ${created.json.id} not found.` });
    expect((await send('GET', '/v2/listeners')).json.resources).toEqual([]);
  });

  it('are listed newest first, page by page', async () => {
    const made = [await send('POST', '/v2/listeners', { body: body('page-1') })];
    made.unshift(await send('POST', '/v2/listeners', { body: body('page-2') }));
    const first = await send('GET', '/v2/listeners?limit=1');
    expect(first.json).toEqual({ resources: [made[0]!.json], offset: 1 });
    expect(first.headers.link).toBe('</v2/listeners?limit=1&offset=1>; rel="next"');
    const second = await send('GET', '/v2/listeners?limit=1&offset=1');
    expect(second.json).toEqual({ resources: [made[1]!.json], offset: 2 });
    expect(second.headers.link).toBeUndefined();
    for (const { json } of made) await send('DELETE', `/v2/listeners/${json.id}`);
  });

  it('are unique by compute within the tenant, until they are deleted', async () => {
    const first = await send('POST', '/v2/listeners', { body: body('cluster-2') });
    const again = await send('POST', '/v2/listeners', { body: body('cluster-2') });
    expect([again.status, again.json.detail]).toEqual([
      409,
      `Listener for workspace ID '${TENANT}' and compute ID 'cluster-2' already exists.`,
    ]);
    expect((await send('POST', '/v2/listeners', { body: body('cluster-2'), as: 'stranger' })).status).toBe(201);
    await send('DELETE', `/v2/listeners/${first.json.id}`);
    expect((await send('POST', '/v2/listeners', { body: body('cluster-2') })).status).toBe(201);
  });

  it('leave their compute free when a deletion stopped before the name was released', async () => {
    const { json } = await send('POST', '/v2/listeners', { body: body('cluster-left') });
    const metadata = { tenant: TENANT };
    await service.store.append(`listener-${json.id}`, 1, [{ type: 'ListenerDeleted', data: {} }], metadata);
    expect((await send('POST', '/v2/listeners', { body: body('cluster-left') })).status).toBe(201);
    expect((await send('POST', '/v2/listeners', { body: body('cluster-left') })).status).toBe(409);
  });

  it('speak both spellings', async () => {
    const wire = { ...body('cluster-3'), compute_config: { k8s_namespaces: ['a', 'b'] } };
    const { json } = await send('POST', '/api-host/v2/listeners', { body: wire });
    expect(json.compute_config).toEqual({ k8s_namespaces: ['a', 'b'] });
    expect((await send('GET', `/v2/listeners/${json.id}`)).json.compute_config).toEqual({
      cluster_namespaces: ['a', 'b'],
    });
    const headers = { 'idempotency-key': 'spelled' };
    const change = { body: { compute_config: { cluster_namespaces: ['a', 'b', 'c'] } }, headers };
    expect((await send('PATCH', `/api-host/v2/listeners/${json.id}`, change)).json.compute_config).toEqual({
      k8s_namespaces: ['a', 'b', 'c'],
    });
    const again = await send('PATCH', `/v2/listeners/${json.id}`, change);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json.compute_config).toEqual({ cluster_namespaces: ['a', 'b', 'c'] });
    const { resources } = (await send('GET', '/api-host/v2/listeners?limit=1')).json;
    expect(resources[0].compute_config).toEqual({ k8s_namespaces: ['a', 'b', 'c'] });
    const both = { cluster_namespaces: ['a'], k8s_namespaces: ['b'] };
    expect((await send('PATCH', `/v2/listeners/${json.id}`, { body: { compute_config: both } })).status).toBe(400);
  });

  it('belong to their tenant and refuse what does not fit', async () => {
    const { json } = await send('POST', '/v2/listeners', { body: body('cluster-4') });
    const change = { compute_config: { cluster_namespaces: ['agents', '-rf X'] } };
    for (const wrong of [
      await send('POST', '/v2/listeners', { body: { ...body('cluster-5'), ...change } }),
      await send('PATCH', `/v2/listeners/${json.id}`, { body: change }),
    ]) {
      expect([wrong.status, wrong.json.detail]).toEqual([
        400,
        expect.stringMatching(/^cluster_namespaces: '-rf X' must/),
      ]);
    }
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const sent = { as: 'stranger' as const, ...(method === 'PATCH' && { body: { version: 'x' } }) };
      expect((await send(method, `/v2/listeners/${json.id}`, sent)).status).toBe(404);
    }
    const theirs = (await send('GET', '/v2/listeners?limit=100', { as: 'stranger' })).json.resources;
    expect(theirs.map(({ id }: { id: string }) => id)).not.toContain(json.id);
    expect((await send('GET', `/v2/listeners/${uuidOf(404)}`)).status).toBe(404);
    const bad = await send('POST', '/v2/listeners', { body: { compute_type: 'vm', compute_config: {} } });
    expect(bad.json.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(['compute_type', 'compute_id']);
  });
});
