import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKey } from './admin-key';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'fairlead-key-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

it('is made once, whole and for this user only', () => {
  const made = adminKey({ dataDir });
  expect(made).toMatchObject({ isNew: true, file: join(dataDir, 'api-key') });
  expect(adminKey({ dataDir })).toEqual({ ...made, isNew: false });
  expect(readdirSync(dataDir)).toEqual(['api-key']);
  expect(statSync(made.file!).mode & 0o777).toBe(0o600);
});

it.each([
  ['empty', ''],
  ['of NUL characters', '\0'.repeat(42)],
  ['written in part', 'fairlead_abc'],
])('is made again when a power cut has left the file %s', (_, left) => {
  writeFileSync(join(dataDir, 'api-key'), left);
  const { text, isNew, file } = adminKey({ dataDir });
  expect(isNew).toBe(true);
  expect(readFileSync(file!, 'utf8')).toBe(`${text}\n`);
  expect(text).toMatch(/^fairlead_[\w-]{32}$/);
});

it('is what an operator has put into the file', () => {
  writeFileSync(join(dataDir, 'api-key'), 'an-operators-own-key-of-28-ch');
  expect(adminKey({ dataDir })).toMatchObject({ text: 'an-operators-own-key-of-28-ch', isNew: false });
});
