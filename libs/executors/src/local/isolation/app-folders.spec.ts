import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppFolders } from './app-folders.store';

const isRoot = process.getuid?.() === 0;
let root: string;
beforeEach(() => (root = join(mkdtempSync(join(tmpdir(), 'fairlead-folders-')), 'apps')));
afterEach(() => rmSync(join(root, '..'), { recursive: true, force: true }));

it('a user id is not given again after the last deployment was removed and the server restarted', async () => {
  const before = new AppFolders(root);
  before.begin();
  const { user } = before.of('one');
  await before.remove('one');
  before.end();
  const after = new AppFolders(root);
  after.begin();
  const other = after.of('other').user;
  if (isRoot) expect(other!.uid).toBe(user!.uid + 1);
  else expect([user, other]).toEqual([undefined, undefined]);
});

it('a folder that was not given to a user before the server was killed is given to one', () => {
  const folders = new AppFolders(root);
  folders.begin();
  for (const name of ['data', 'state', 'proof', 'tmp', 'home']) {
    mkdirSync(join(root, 'one', name), { recursive: true, mode: 0o700 });
  }
  expect(folders.of('one').user?.uid === undefined).toBe(!isRoot);
});

it('a folder shows others not even its names, and its own user what it holds', async () => {
  chmodSync(join(root, '..'), 0o711);
  const folders = new AppFolders(root);
  folders.begin();
  const folder = folders.of('one');
  writeFileSync(join(await folder.emptyBuild('first'), 'file'), 'x'.repeat(100_000));
  for (const path of [folder.path, join(folder.path, 'builds')]) expect(statSync(path).mode & 0o777).toBe(0o750);
  expect(await folder.size()).toBeGreaterThan(100_000);
  expect(await folder.text(join(folder.build('first'), 'file'))).toHaveLength(100_000);
  await folder.removeBuild('first');
  expect(readdirSync(join(folder.path, 'builds'))).toEqual([]);
});

const whereLimited = isRoot && process.platform === 'linux' ? it : it.skip;
whereLimited('the user of a deployment has a limited number of processes', () => {
  chmodSync(join(root, '..'), 0o711);
  const folders = new AppFolders(root);
  folders.begin();
  const { words, env, user } = folders.of('one').start(['cat', '/proc/self/limits'], { PATH: '/usr/bin:/bin' });
  const limits = execFileSync(words[0]!, words.slice(1), { env, cwd: '/', encoding: 'utf8', ...user });
  const [, soft, hard] = /^Max processes +(\S+) +(\S+)/m.exec(limits)!;
  expect(Number(soft)).toBeLessThanOrEqual(4096);
  expect(hard).toBe(soft);
});

(isRoot ? it : it.skip)('files are counted also where the user of a deployment may not look', async () => {
  const folders = new AppFolders(root);
  folders.begin();
  const folder = folders.of('one');
  const { uid, gid } = folder.user!;
  const hidden = join(folder.path, 'data', 'hidden');
  mkdirSync(hidden);
  writeFileSync(join(hidden, 'file'), 'x'.repeat(100_000));
  chownSync(hidden, uid, gid);
  chmodSync(hidden, 0o300);
  expect(await folder.size()).toBeGreaterThan(100_000);
});
