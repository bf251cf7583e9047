import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { TENANT } from '@fairlead/edge/testing';
import { archive, type Entry } from '../testing/archive';
import { uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';
import { SourceStore } from '../archives/source.store';

let service: TestService;
beforeAll(async () => (service = await TestService.start()));
afterAll(() => service.stop());

let count = 0;
/** A deployment with one revision for each archive, in their order; undefined: its archive was never uploaded. */
async function deployed(...archives: readonly (Buffer | undefined)[]) {
  const name = `compared-${++count}`;
  const sent = { name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] };
  const { id } = await service.ready(sent);
  const revisions: string[] = [];
  for (const bytes of archives) {
    const { object_path } = (await service.send('POST', `/v2/deployments/${id}/upload-url`)).json;
    if (bytes) await service.app.get(SourceStore).save(TENANT, id, object_path, blocks(bytes));
    const body = { revision_source: 'internal_source', source_revision_config: { source_tarball_path: object_path } };
    const { status, json } = await service.send('PATCH', `/v2/deployments/${id}`, { body });
    expect(status).toBe(200);
    revisions.push(json.latest_revision_id);
  }
  const [from, to] = revisions;
  return { id, from: from!, to: to!, url: `/v2/deployments/${id}/revisions/${from}/diff/${to}/files` };
}

async function* blocks(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}

const files = (answer: { json: { files: { path: string }[] } }) => answer.json.files.map(({ path }) => path);

describe('Comparing the sources of two revisions', () => {
  const BEFORE = {
    'agent.py': 'one\ntwo\nthree\n',
    'gone.txt': 'gone\n',
    same: 'same',
    '.env': 'TOKEN=1',
    logo: '\0a',
  };
  const AFTER = { 'agent.py': 'one\n2\nthree\n', 'new.txt': 'new\n', same: 'same', '.env': 'TOKEN=2', logo: '\0b' };

  it('names what was added, removed and changed, without any content', async () => {
    const { url, from, to } = await deployed(archive(BEFORE), archive(AFTER));
    const { status, json, text } = await service.send('GET', url);
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        from,
        to,
        total: 5,
        offset: 5,
        unchanged: 1,
        files: [
          {
            path: '.env',
            change: 'changed',
            kind: 'secret',
            from: { bytes: 7, sha256: null },
            to: { bytes: 7, sha256: null },
          },
          { path: 'agent.py', change: 'changed', kind: 'text', from: { bytes: 14, sha256 }, to: { bytes: 12, sha256 } },
          { path: 'gone.txt', change: 'removed', kind: 'text', from: { bytes: 5, sha256 }, to: null },
          { path: 'logo', change: 'changed', kind: 'binary', from: { bytes: 2, sha256 }, to: { bytes: 2, sha256 } },
          { path: 'new.txt', change: 'added', kind: 'text', from: null, to: { bytes: 4, sha256 } },
        ],
      },
    });
    expect(text).not.toMatch(/TOKEN|three/);
  });

  it('shows the difference of a text, and of nothing else', async () => {
    const { url } = await deployed(archive(BEFORE), archive(AFTER));
    const content = async (path: string) =>
      (await service.send('GET', `${url}/content?path=${encodeURIComponent(path)}`)).json;
    expect((await content('agent.py')).patch).toBe(
      '===================================================================\n--- a/agent.py\n+++ b/agent.py\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
    );
    expect((await content('new.txt')).patch).toContain('--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+new\n');
    expect((await content('gone.txt')).patch).toContain('--- a/gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n');
    for (const path of ['.env', 'logo']) expect((await content(path)).patch).toBeNull();
    for (const path of ['same', 'nowhere']) {
      expect((await content(path)).detail).toBe('The revisions do not differ in a file of that path.');
    }
  });

  it('never shows files that usually hold secrets', async () => {
    const names = [
      '.env.local',
      'prod.env',
      'a/server.pem',
      'id_ed25519',
      '.npmrc',
      'conf/credentials.json',
      'secrets.yaml',
    ];
    const holding = (value: string) => archive(Object.fromEntries(names.map((name) => [name, value])));
    const { url } = await deployed(holding('hidden-1'), holding('hidden-2'));
    const answers = [await service.send('GET', url)];
    for (const name of names)
      answers.push(await service.send('GET', `${url}/content?path=${encodeURIComponent(name)}`));
    for (const { status, text } of answers)
      expect([status, text]).toEqual([200, expect.not.stringContaining('hidden')]);
  });

  it('answers pages, and a link to the next one', async () => {
    const many: Record<string, Entry> = {};
    for (let index = 0; index < 25; index++) many[`file-${String(index).padStart(2, '0')}`] = String(index);
    const { url } = await deployed(archive({ a: '' }), archive({ a: '', ...many }));
    const first = await service.send('GET', `${url}?limit=20`);
    expect([first.json.total, first.json.offset, files(first).length]).toEqual([25, 20, 20]);
    expect(first.headers.link).toContain('offset=20');
    const second = await service.send('GET', `${url}?limit=20&offset=20`);
    expect([...files(first), ...files(second)]).toEqual(Object.keys(many));
    expect([second.json.offset, second.headers.link]).toEqual([25, undefined]);
    expect((await service.send('GET', `${url}?offset=99`)).json).toMatchObject({ files: [], offset: 99, total: 25 });
    expect((await service.send('GET', `${url}?limit=0`)).status).toBe(422);
    expect((await service.send('GET', `${url}?page=2`)).status).toBe(422);
  });

  it('does not read the one archive of two revisions', async () => {
    const { id, from } = await deployed(gzipSync('no tarball'));
    const url = `/v2/deployments/${id}/revisions/${from}/diff/${from}/files`;
    expect((await service.send('GET', url)).json).toMatchObject({ files: [], total: 0, unchanged: null });
  });

  it('says which archive cannot be read, and which revision has none', async () => {
    const whole = archive({ a: randomBytes(3000) });
    const broken = await deployed(whole, whole.subarray(0, 2000));
    expect(await service.send('GET', broken.url)).toMatchObject({
      status: 422,
      json: { detail: `The archive of revision ${broken.to} cannot be unpacked: unexpected end of file` },
    });
    const { id, from, to, url } = await deployed(whole, undefined);
    const missing = { status: 404, json: { detail: `Revision ID ${to} has no uploaded source.` } };
    expect(await service.send('GET', url)).toMatchObject(missing);
    const other = uuidOf(999);
    const unknown = await service.send('GET', `/v2/deployments/${id}/revisions/${from}/diff/${other}/files`);
    expect(unknown).toMatchObject({ status: 404, json: { detail: `Revision ID ${other} not found.` } });
  });
});

describe('The thread that compares sources', () => {
  /** As built, with its worker. */
  const built = jest.requireActual<typeof import('../archives/source-differences.service')>(
    '../../dist/archives/source-differences.service',
  );
  const started = (...archives: readonly AsyncIterable<Buffer>[]) => {
    const open = [...archives];
    return new built.SourceDifferences({ open: async () => open.shift() });
  };
  const revisions = [
    { revisionId: 'first', path: 'a' },
    { revisionId: 'second', path: 'b' },
  ] as const;
  const compared = { tenantId: TENANT, deploymentId: uuidOf(998), revisions };

  it('answers as the calling thread does, while that goes on', async () => {
    const large = randomBytes(20 * 1024 * 1024);
    const differences = started(blocks(archive({ large, a: '1\n' })), blocks(archive({ large, a: '2\n' })));
    let [turns, done] = [0, false];
    const turn = () => {
      turns++;
      if (!done) setImmediate(turn);
    };
    turn();
    const { files: found, unchanged } = await differences.list(compared);
    done = true;
    expect([found.map(({ path }) => path), unchanged]).toEqual([['a'], 1]);
    expect(turns).toBeGreaterThan(10);
    // The second page needs no archive.
    expect((await differences.list(compared)).files).toBe(found);
  });

  it('refuses an archive that is broken, and fails with the error of its source', async () => {
    const broken = started(blocks(gzipSync('no tarball')), blocks(archive({ a: '' })));
    await expect(broken.list(compared)).rejects.toMatchObject({
      status: 422,
      detail: expect.stringMatching(/^The archive of revision first cannot be read: /),
    });
    const gone = new Error('The database is away.');
    async function* failing(): AsyncIterable<Buffer> {
      yield archive({ a: randomBytes(5000) }).subarray(0, 1000);
      throw gone;
    }
    await expect(started(failing(), failing()).list(compared)).rejects.toBe(gone);
  });
});
