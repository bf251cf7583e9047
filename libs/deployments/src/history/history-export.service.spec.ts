import { createHash, createPublicKey, verify } from 'node:crypto';
import { LogSigner } from '@fairlead/eventing';
import { REPOSITORY, uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
beforeAll(async () => (service = await TestService.start()));
afterAll(() => service.stop());

const SECRET = 'canary-of-an-export';

/** The check that docs/guides/audit.md describes to a stranger; nothing of ours is used. */
function hashOf(lines: readonly string[]): string {
  return lines.reduce((before, line) => {
    const { id, stream, version, type, data, metadata, time } = JSON.parse(line);
    const text = JSON.stringify([before, stream, version, id, type, data, metadata, time]);
    return createHash('sha256').update(text).digest('base64url');
  }, '');
}

async function exported(): Promise<string[]> {
  const { id } = await service.ready({
    name: `exported-${Math.random()}`,
    source: 'codehost',
    source_config: {
      ...REPOSITORY,
      resource_spec: { labels: { __proto__x: 'sealed', '10': 'ten', '2': 'two', ü: '\ud83d\ude00 \u2028' } },
    },
    source_revision_config: { repo_ref: 'main' },
    secrets: [{ name: 'TOKEN', value: SECRET }],
  });
  await service.send('PATCH', `/v2/deployments/${id}`, { body: { source_revision_config: { repo_ref: 'next' } } });
  const { status, headers, text } = await service.send('GET', `/v2/deployments/${id}/history/export`);
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/jsonl; charset=utf-8');
  return text.trimEnd().split('\n');
}

describe('an exported history', () => {
  it('is verified by its hash and the signature of the installation', async () => {
    const lines = await exported();
    const { head, key_id, signature } = JSON.parse(lines.at(-1)!);
    const events = lines.slice(0, -1);
    expect(events.map((line) => JSON.parse(line).version)).toEqual([1, 2, 3, 4, 5]);
    expect(head).toMatchObject({ version: 5, hash: hashOf(events) });
    const [key] = (await service.app.get(LogSigner).publicKeys()).filter(({ kid }) => kid === key_id);
    const signed = JSON.stringify(['fairlead stream', head.stream, head.version, head.hash, head.exported_at]);
    const publicKey = createPublicKey({ key: key!, format: 'jwk' });
    const valid = (text: string) => verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
    expect(valid(signed)).toBe(true);
    expect(valid(signed.replace('5', '6'))).toBe(false);
  });

  it('shows a change to any of its lines', async () => {
    const lines = await exported();
    const { head } = JSON.parse(lines.at(-1)!);
    const events = lines.slice(0, -1);
    for (const [at, line] of events.entries()) {
      expect(hashOf(events.with(at, line.replace('"actor":"', '"actor":"x')))).not.toBe(head.hash);
      expect(hashOf(events.toSpliced(at, 1))).not.toBe(head.hash);
    }
  });

  it('holds no secret, not even encrypted', async () => {
    const text = (await exported()).join('\n');
    expect(text).not.toContain(SECRET);
    expect(text).toMatch(/"sealed":"sha256:[\w-]{43}"/);
    expect(text).not.toMatch(/"sealed":"(?!sha256:)/);
  });

  it('is not given to others', async () => {
    const { status } = await service.send('GET', `/v2/deployments/${uuidOf(9)}/history/export`);
    expect(status).toBe(404);
  });
});
