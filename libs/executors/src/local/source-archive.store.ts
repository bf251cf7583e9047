import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ExecutorUnreachable, StepFailed } from '../port/executor';
import { isOfRecord } from '../port/of-record';
import type { AppFolder } from './isolation/app-folders.store';

interface Unpacking {
  readonly most: number;
  readonly start: AppFolder['start'];
  readonly signal: AbortSignal;
  /** It comes from a code host: all is in one folder, which is left out, and links inside are taken. */
  readonly repository?: boolean;
}

/**
 * Unpacks a gzip tarball into an empty folder, as the user of the deployment. Only files and folders are taken.
 * @throws StepFailed when the archive is broken, holds anything else, or is larger than `most` bytes when unpacked; what
 * `source` throws
 */
export async function unpack(
  source: AsyncIterable<Buffer>,
  folder: string,
  { most, start, signal, repository = false }: Unpacking,
): Promise<void> {
  const options = ['--no-same-owner', '--no-same-permissions', ...(repository ? ['--strip-components=1'] : [])];
  const { words, env, user } = start(['tar', '-x', '-f', '-', '-C', folder, ...options], {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LC_ALL: 'C',
  });
  const tar = spawn(words[0]!, words.slice(1), { cwd: '/', env, stdio: ['pipe', 'ignore', 'pipe'], ...user });
  const exit = once(tar, 'close') as Promise<[number | null]>;
  exit.catch(() => undefined);
  let said = '';
  tar.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(0, 500)));
  tar.stdin.on('error', () => undefined);
  const sent = await pipeline(Readable.from(source), createGunzip(), atMost(most), tar.stdin, { signal }).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  // It reads no further than the end of the archive, which may be followed by empty blocks.
  const isBroken = sent !== undefined && !['ERR_STREAM_PREMATURE_CLOSE', 'EPIPE'].includes(sent.code ?? '');
  if (isBroken) tar.kill('SIGKILL');
  const [code] = await exit.catch(() => [null]);
  signal.throwIfAborted();
  if (sent instanceof StepFailed || sent instanceof ExecutorUnreachable || (sent && isOfRecord(sent))) throw sent;
  if (isBroken || code !== 0) {
    throw new StepFailed(
      `The archive cannot be unpacked: ${said.split('\n')[0] || (sent?.message ?? 'tar has failed')}`,
    );
  }
  await checkFiles(folder, { root: await realpath(folder), links: repository, signal });
}

interface Check {
  readonly root: string;
  readonly links: boolean;
  /** An archive may hold millions of files: they are looked at no longer than the step lasts. */
  readonly signal: AbortSignal;
}

/** @throws StepFailed naming the first thing that is neither a file with one name nor a folder, nor a link that may be */
async function checkFiles(folder: string, check: Check, at = ''): Promise<void> {
  const { root, links, signal } = check;
  for (const name of await readdir(folder)) {
    signal.throwIfAborted();
    const path = join(folder, name);
    const within = at === '' ? name : `${at}/${name}`;
    const found = await lstat(path);
    if (found.isDirectory()) await checkFiles(path, check, within);
    else if (links && found.isSymbolicLink()) await checkLink(path, root, within);
    else if (!found.isFile() || found.nlink > 1) {
      throw new StepFailed(`The archive must hold files and folders only: ${within} is neither.`);
    }
  }
}

/** @throws StepFailed for a link that leads out of the root, or nowhere */
async function checkLink(path: string, root: string, within: string): Promise<void> {
  const target = await realpath(path).catch(() => undefined);
  if (target !== undefined && `${target}/`.startsWith(`${root}/`)) return;
  throw new StepFailed(`The link ${within} of the repository must lead to a file or folder of the repository.`);
}

function atMost(most: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen <= most) return done(null, chunk);
      done(new StepFailed(`The archive has more than ${most} bytes when it is unpacked.`));
    },
  });
}
