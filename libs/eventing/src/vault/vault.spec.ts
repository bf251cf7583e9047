import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@fairlead/postgres/testing';
import { masterKeyFile, MasterKeyProblem, type MasterKeys, parseMasterKeys } from './master-key';
import { VaultTables1763600000100 } from '../migrations/eventing-tables';
import { SealBroken, Shredded, Vault } from './vault';

const first = randomBytes(32).toString('base64');
const second = randomBytes(32).toString('hex');
const keys = (text: string): MasterKeys => parseMasterKeys(text, 'FAIRLEAD_MASTER_KEY');

let database: Awaited<ReturnType<typeof testDatabase>>;
let vault: Vault;

beforeAll(async () => {
  database = await testDatabase([VaultTables1763600000100]);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('delete from data_keys');
  vault = new Vault(database.pool, keys(first));
});

describe('a vault', () => {
  it('opens what it sealed', async () => {
    for (const plain of ['größer than 1 €', '', '\u0000 \ud800 🙂']) {
      const sealed = await vault.seal('acme', 'deployment-1', 'TOKEN', plain);
      expect(sealed).toEqual({ subject: 'deployment-1', sealed: expect.stringMatching(/^1\.[\w-]{11}\.[\w-]+$/) });
      expect(await vault.open('acme', 'deployment-1', 'TOKEN', sealed)).toBe(plain);
    }
  });

  it('never seals the same text the same way', async () => {
    const seal = () => vault.seal('acme', 'deployment-1', 'TOKEN', 'x');
    expect((await seal()).sealed).not.toBe((await seal()).sealed);
  });

  it('binds a value to its tenant, subject and name', async () => {
    const sealed = await vault.seal('acme', 'deployment-1', 'TOKEN', 'x');
    await vault.seal('acme', 'deployment-2', 'TOKEN', 'x');
    await expect(vault.open('other', 'deployment-1', 'TOKEN', sealed)).rejects.toThrow(SealBroken);
    await expect(vault.open('acme', 'deployment-1', 'NAME', sealed)).rejects.toThrow(SealBroken);
    await expect(vault.open('acme', 'deployment-2', 'TOKEN', sealed)).rejects.toThrow(SealBroken);
    await expect(vault.open('acme","deployment-1', '', 'TOKEN', { ...sealed, subject: '' })).rejects.toThrow();
  });

  it('notices a changed value', async () => {
    const { subject, sealed } = await vault.seal('acme', 'deployment-1', 'TOKEN', 'some secret');
    const swapped = sealed.at(-5) === 'A' ? 'B' : 'A';
    for (const changed of [sealed.slice(0, -5) + swapped + sealed.slice(-4), sealed.slice(0, 20), '', 'plain']) {
      await expect(vault.open('acme', subject, 'TOKEN', { subject, sealed: changed })).rejects.toThrow(SealBroken);
    }
  });

  it('agrees with another process on the key of a new subject', async () => {
    const other = new Vault(database.pool, keys(first));
    const vaults = Array.from({ length: 16 }, (_, n) => (n % 2 ? vault : other));
    const sealed = await Promise.all(vaults.map((each, n) => each.seal('acme', 'deployment-1', 'N', `value ${n}`)));
    const fresh = new Vault(database.pool, keys(first));
    const opened = await Promise.all(sealed.map((each) => fresh.open('acme', 'deployment-1', 'N', each)));
    expect(opened).toEqual(vaults.map((_, n) => `value ${n}`));
  });

  it('forgets what it shredded, also when the subject comes back', async () => {
    const sealed = await vault.seal('acme', 'deployment-1', 'TOKEN', 'x');
    const kept = await vault.seal('acme', 'deployment-2', 'TOKEN', 'y');
    await vault.shred('deployment-1');
    await expect(vault.open('acme', 'deployment-1', 'TOKEN', sealed)).rejects.toThrow(Shredded);
    await vault.seal('acme', 'deployment-1', 'TOKEN', 'z');
    await expect(vault.open('acme', 'deployment-1', 'TOKEN', sealed)).rejects.toThrow(Shredded);
    expect(await vault.open('acme', 'deployment-2', 'TOKEN', kept)).toBe('y');
  });

  it('digests equal texts of a subject equally, and of two subjects differently', async () => {
    const digest = await vault.digest('deployment-1', 'x');
    expect(digest).toMatch(/^[\w-]{22}$/);
    expect(await new Vault(database.pool, keys(first)).digest('deployment-1', 'x')).toBe(digest);
    expect(await vault.digest('deployment-1', 'y')).not.toBe(digest);
    expect(await vault.digest('deployment-2', 'x')).not.toBe(digest);
  });

  it('does without a former master key once every data key is wrapped anew', async () => {
    const subjects = Array.from({ length: 501 }, (_, n) => `deployment-${n}`);
    const sealed = await Promise.all(subjects.map((subject) => vault.seal('acme', subject, 'TOKEN', subject)));
    const both = new Vault(database.pool, keys(`${second}, ${first}`));
    expect(await both.open('acme', subjects[0]!, 'TOKEN', sealed[0]!)).toBe(subjects[0]);
    expect(await both.rotate()).toBe(501);
    expect(await both.rotate()).toBe(0);
    const rotated = new Vault(database.pool, keys(second));
    for (const [n, subject] of subjects.entries()) {
      expect(await rotated.open('acme', subject, 'TOKEN', sealed[n]!)).toBe(subject);
    }
    const former = new Vault(database.pool, keys(first));
    await expect(former.open('acme', subjects[0]!, 'TOKEN', sealed[0]!)).rejects.toThrow(MasterKeyProblem);
  });
});

describe('master keys', () => {
  it('are 32 bytes as base64, base64url or hexadecimal digits, the current one first', () => {
    const key = randomBytes(32);
    const spellings = [key.toString('base64'), key.toString('base64url'), key.toString('hex')];
    const { current, older } = keys(spellings.join('\n'));
    expect(current).toEqual({ id: expect.stringMatching(/^[0-9a-f]{16}$/), key });
    expect(older).toEqual([current, current]);
  });

  it.each(['', 'correct horse battery staple', 'ab'.repeat(31), 'ab'.repeat(33), `${first}x`])(
    'refuses %p without repeating it',
    (text) => {
      expect(() => keys(text)).toThrow(/^FAIRLEAD_MASTER_KEY (must hold 32 bytes|holds no master key)/);
      expect(messageOf(() => keys(text))).not.toContain(text || 'undefined');
    },
  );

  describe('in a file', () => {
    let directory: string;
    beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'fairlead-'))));
    afterEach(() => rmSync(directory, { recursive: true }));

    it('are made once, for the owner alone', async () => {
      const path = join(directory, 'master-key');
      const [one, other] = await Promise.all([masterKeyFile(path), masterKeyFile(path)]);
      expect(other).toEqual(one);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(await masterKeyFile(path)).toEqual(one);
    });

    it('are refused when the file holds something else', async () => {
      const path = join(directory, 'master-key');
      writeFileSync(path, 'hello');
      await expect(masterKeyFile(path)).rejects.toThrow(MasterKeyProblem);
    });
  });
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('Nothing was thrown.');
}
