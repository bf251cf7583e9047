import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { eventingMigrations, parseMasterKeys, Vault } from '@fairlead/eventing';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';

const ROOT = resolve(__dirname, '../../../..');
const [former, next] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];

let database: TestDatabase;
beforeAll(async () => (database = await testDatabase(eventingMigrations)));
afterAll(() => database.drop());

function vault(keys: string): Vault {
  return new Vault(database.pool, parseMasterKeys(keys, 'They'));
}

function rotate(env: Record<string, string>): Promise<{ code: number; output: string; errors: string }> {
  const program = ['-r', join(ROOT, 'tools/test/typescript.cjs'), join(ROOT, 'tools/admin/src/main.ts'), 'rotate-keys'];
  return new Promise((settle) => {
    const options = { env: { PATH: process.env.PATH, DATABASE_URL: database.url, ...env } };
    execFile(process.execPath, program, options, (error, output, errors) =>
      settle({ code: error ? Number(error.code) : 0, output, errors }),
    );
  });
}

it('wraps every data key with the first master key, so that the former one is not needed', async () => {
  const sealed = await vault(former).seal('tenant', 'deployment-1', 'TOKEN', 'secret');
  await vault(former).seal('tenant', 'deployment-2', 'TOKEN', 'secret');
  await expect(vault(next).open('tenant', 'deployment-1', 'TOKEN', sealed)).rejects.toThrow('is not configured');
  expect(await rotate({ FAIRLEAD_MASTER_KEY: `${next},${former}` })).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^2 data keys /),
  });
  expect(await vault(next).open('tenant', 'deployment-1', 'TOKEN', sealed)).toBe('secret');
  expect(await rotate({ FAIRLEAD_MASTER_KEY: next })).toMatchObject({ code: 0, output: expect.stringMatching(/^0 /) });
});

it('leaves what another key wrapped and says so in one line', async () => {
  const lost = await rotate({ FAIRLEAD_MASTER_KEY: former });
  expect(lost).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/^The master key \w+, .* is not configured\.\n$/),
  });
  expect(await rotate({ FAIRLEAD_MASTER_KEY: 'short' })).toMatchObject({ code: 2, output: '' });
});
