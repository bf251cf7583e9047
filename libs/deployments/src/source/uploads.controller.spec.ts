import { createHash } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { StoredBytes } from '@fairlead/eventing';
import { TENANT } from '@fairlead/edge/testing';
import { v7 as newId } from 'uuid';
import { SourceStore } from '../archives/source.store';
import { uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
let id: string;
let count = 0;
beforeAll(async () => (service = await TestService.start()));
afterAll(() => service.stop());
beforeEach(async () => {
  const sent = { source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  ({ id } = await service.ready({ ...sent, name: `uploaded-${++count}` }));
});

const TARBALL = gzipSync(Buffer.alloc(1_000_000, 'source '), { level: 0 });
const issue = async () => (await service.send('POST', `/v2/deployments/${id}/upload-url`)).json;
const put = async (url: string, payload: Buffer | Readable, headers = {}) => {
  const { pathname, search } = new URL(url);
  const answer = await service.app.inject({ method: 'PUT', url: pathname + search, payload, headers });
  return { status: answer.statusCode, json: JSON.parse(answer.payload) };
};

async function stored(path: string): Promise<Buffer | undefined> {
  const chunks = await service.app.get(SourceStore).open(TENANT, id, path);
  if (!chunks) return undefined;
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

describe('upload-url', () => {
  it('gives out a URL that takes an archive without a key, and a path that a PATCH may name', async () => {
    const issued = await service.send('POST', `/v2/deployments/${id}/upload-url`);
    expect([issued.status, Object.keys(issued.json)]).toEqual([200, ['upload_url', 'object_path']]);
    const { upload_url, object_path } = issued.json;
    expect(upload_url).toMatch(/^http:\/\/[^/]+\/v2\/deployments\//);
    expect(await put(upload_url, TARBALL, { 'content-type': 'application/gzip' })).toEqual({ status: 200, json: {} });
    expect((await stored(object_path))?.equals(TARBALL)).toBe(true);
    const body = { revision_source: 'internal_source', source_revision_config: { source_tarball_path: object_path } };
    const patched = await service.send('PATCH', `/v2/deployments/${id}`, { body });
    expect(patched.json.source_revision_config.source_tarball_path).toBe(object_path);
    const { json } = await service.send('GET', `/v2/deployments/${id}/revisions?include=cause`);
    const sha256 = createHash('sha256').update(TARBALL).digest('hex');
    const time = expect.stringMatching(/Z$/);
    expect(json.resources[0].upload).toEqual({
      ...{ sha256, bytes: TARBALL.length, actor: 'writer', actor_name: null, issued_at: time },
    });
  });

  it('gives out none at a host that is none', async () => {
    const answer = await service.send('POST', `/v2/deployments/${id}/upload-url`, { headers: { host: 'a host' } });
    expect(answer).toMatchObject({ status: 400, json: { detail: expect.stringContaining('Host names no host') } });
    const { json } = await service.send('GET', `/v2/deployments/${id}/history`);
    expect(json.resources.map(({ type }: { type: string }) => type)).not.toContain('UploadPathIssued');
  });

  it('gives out none at a host that anybody could have written into the request', async () => {
    const url = `/v2/deployments/${id}/upload-url`;
    for (const host of [
      'attacker.example',
      '10.1.2.3:80',
      'localhost.attacker.example',
      '127.0.0.1.attacker.example',
    ]) {
      const answer = await service.send('POST', url, { headers: { host } });
      expect(answer).toMatchObject({ status: 400, json: { detail: expect.stringContaining('set PUBLIC_URL') } });
    }
    for (const host of ['localhost:4600', '127.0.0.1:4600', '[::1]:4600', 'agents.localhost']) {
      const { json } = await service.send('POST', url, { headers: { host } });
      expect(json.upload_url).toMatch(`http://${host}/`);
    }
  });

  it('takes none beyond what the workspace may store, and counts archives until their deployment is gone', async () => {
    const bytes = service.app.get(StoredBytes);
    const before = await bytes.used(TENANT);
    await put((await issue()).upload_url, TARBALL);
    expect(await bytes.used(TENANT)).toBe(before + TARBALL.length);
    const { upload_url, object_path } = await issue();
    const { pool } = service.database;
    await pool.query('update stored_bytes set bytes = bytes + $1', [bytes.limit - TARBALL.length]);
    const answers = [await put(upload_url, TARBALL), await put(upload_url, Readable.from([TARBALL]))];
    for (const { status, json } of answers) {
      expect([status, json.detail]).toEqual([409, expect.stringContaining('(setting QUOTA_STORED_BYTES)')]);
    }
    expect(await stored(object_path)).toBeUndefined();
    await pool.query('update stored_bytes set bytes = bytes - $1', [bytes.limit - TARBALL.length]);
    await service.app.get(SourceStore).removeAll(id);
    expect(await bytes.used(TENANT)).toBe(before);
  });

  it('takes the same archive again, and no other one', async () => {
    const { upload_url, object_path } = await issue();
    await put(upload_url, TARBALL);
    expect((await put(upload_url, TARBALL)).status).toBe(200);
    expect((await put(upload_url, gzipSync('other'))).status).toBe(409);
    expect((await stored(object_path))?.equals(TARBALL)).toBe(true);
  });

  it('stores only what is a gzip file', async () => {
    const { upload_url, object_path } = await issue();
    for (const body of [Buffer.from('plain text'), Buffer.alloc(0), Buffer.from([0x1f])]) {
      expect(await put(upload_url, body)).toMatchObject({
        status: 400,
        json: { detail: expect.stringMatching(/gzip/) },
      });
    }
    expect(await stored(object_path)).toBeUndefined();
  });

  it('takes 200 MiB and not a byte more, whether the length is announced or not', async () => {
    const { upload_url } = await issue();
    const save = jest
      .spyOn(service.app.get(SourceStore), 'save')
      .mockImplementation(async (_tenant, _id, _path, source) => {
        for await (const part of source) expect(part.length).toBeGreaterThan(0);
      });
    const part = Buffer.alloc(1024 * 1024);
    TARBALL.copy(part, 0, 0, 3);
    const most = Array.from({ length: 200 }, () => part);
    const length = (bytes: number) => ({ 'content-length': String(bytes) });
    const tooLarge = {
      status: 413,
      json: { detail: 'The archive is larger than the limit of 209715200 bytes.' },
    };
    try {
      expect((await put(upload_url, Readable.from(most))).status).toBe(200);
      expect((await put(upload_url, TARBALL, length(209_715_200))).status).toBe(200);
      expect(await put(upload_url, Readable.from([...most, Buffer.alloc(1)]))).toEqual(tooLarge);
      expect(await put(upload_url, TARBALL, length(209_715_201))).toEqual(tooLarge);
    } finally {
      save.mockRestore();
    }
  });

  it('opens nothing else: a changed, borrowed or expired URL is refused', async () => {
    const { upload_url } = await issue();
    const url = new URL(upload_url);
    const changed = (change: (copy: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return put(copy.href, TARBALL);
    };
    const refused = { status: 403, json: { detail: 'The upload URL is not valid.' } };
    expect(await changed((copy) => copy.searchParams.set('expires', '99999999999999'))).toEqual(refused);
    expect(await changed((copy) => copy.searchParams.set('signature', 'A'.repeat(22)))).toEqual(refused);
    expect(await changed((copy) => (copy.pathname = copy.pathname.replace(id, uuidOf(404))))).toEqual(refused);
    expect((await changed((copy) => (copy.search = ''))).status).toBe(422);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_601_000);
    const expired = await put(upload_url, TARBALL);
    jest.restoreAllMocks();
    expect(expired).toMatchObject({ status: 403, json: { detail: expect.stringMatching(/expired/) } });
  });

  it('is the tenant’s own, and ends with the deployment', async () => {
    const url = `/v2/deployments/${id}/upload-url`;
    expect((await service.send('POST', url, { as: 'stranger' })).status).toBe(404);
    expect((await service.send('POST', url, { as: 'reader' })).status).toBe(403);
    const { upload_url, object_path } = await issue();
    await put(upload_url, TARBALL);
    await service.send('DELETE', `/v2/deployments/${id}`);
    await service.eventually(
      () => service.send('GET', `/v2/deployments/${id}`),
      ({ status }) => status === 404,
    );
    expect((await put(upload_url, TARBALL)).status).toBe(404);
    const { rowCount } = await service.database.pool.query('select from source_archives where path = $1', [
      object_path,
    ]);
    expect(rowCount).toBe(0);
  });
});

describe('push-token', () => {
  it('is refused with the sentence that clients look for, or because there is no registry', async () => {
    const { status, json } = await service.send('POST', `/v2/deployments/${id}/push-token`);
    expect(status).toBe(400);
    expect(json.detail).toContain("only available for 'internal_docker' source deployments");
    const pushed = { source: 'internal_container', source_config: {}, source_revision_config: {}, secrets: [] };
    const { id: other } = await service.ready({ ...pushed, name: `pushed-${++count}` });
    const answer = await service.send('POST', `/v2/deployments/${other}/push-token`);
    expect([answer.status, answer.json.detail]).toEqual([400, expect.stringMatching(/REGISTRY_URL/)]);
  });

  it('is the operator’s, with the registry that it opens', async () => {
    const registry = { url: 'registry.example/agents', token: 'push-token' };
    const other = await TestService.start('any', { registry });
    try {
      const pushed = { source: 'internal_container', source_config: {}, source_revision_config: {}, secrets: [] };
      const { json } = await other.send('POST', '/v2/deployments', { body: { ...pushed, name: 'pushed' } });
      const answer = await other.send('POST', `/v2/deployments/${json.id}/push-token`);
      expect([answer.status, answer.json]).toEqual([200, { token: registry.token, registry_url: registry.url }]);
    } finally {
      await other.stop();
    }
  });
});

describe('Archives that are slow to come', () => {
  it('hold no connection to the database, and leave places to other workspaces', async () => {
    await service.app.listen(0, '127.0.0.1');
    const { port } = service.app.getHttpServer().address() as AddressInfo;
    const { pathname, search } = new URL((await issue()).upload_url);
    const head = `PUT ${pathname}${search} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n`;
    const sockets: Socket[] = [];
    let refused = '';
    while (refused === '') {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.setEncoding('utf8').once('data', (text: string) => (refused ||= text));
      socket.write(head);
      socket.write(TARBALL);
      sockets.push(socket);
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (sockets.length > 14) break;
    }
    const { pool } = service.database;
    while (pool.totalCount > pool.idleCount) await new Promise((resolve) => setTimeout(resolve, 5));
    const sent = { source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
    const made = await service.send('POST', '/v2/deployments', { as: 'stranger', body: { ...sent, name: 'theirs' } });
    const theirs = await service.send('POST', `/v2/deployments/${made.json.id}/upload-url`, { as: 'stranger' });
    expect((await put(theirs.json.upload_url, TARBALL)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    // Nothing of what was cut off stays.
    const remains = `select from source_archive_chunks c
      where not exists (select from source_archives a where a.id = c.archive_id)`;
    while ((await pool.query(remains)).rowCount !== 0);
  });

  it('leave nothing behind for ever when the process ends before they do', async () => {
    const { pool } = service.database;
    const old = '01900000-0000-7000-8000-000000000001';
    const young = newId();
    for (const archive of [old, young]) {
      await pool.query(
        "insert into source_archive_chunks (archive_id, number, data) values ($1, 0, 'x'), ($1, 1, 'y')",
        [archive],
      );
    }
    const { upload_url, object_path } = await issue();
    await put(upload_url, TARBALL);
    await service.app.get(SourceStore).removeRemains(new Date(Date.now() - 60_000));
    const { rows } = await pool.query(
      'select distinct archive_id from source_archive_chunks where archive_id = any($1)',
      [[old, young]],
    );
    expect(rows).toEqual([{ archive_id: young }]);
    expect((await stored(object_path))?.equals(TARBALL)).toBe(true);
  });
});
