import { createWriteStream, renameSync, rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text as streamText } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../api/context';
import { brokenFile, Usage } from '../failure';
import { transportFailure } from '../api/transport';

/** Writes an answer, while it comes, to a file, which appears when it is complete; to standard output without one. */
export async function save({ api, out }: Context, answer: Readable, output: string | undefined): Promise<void> {
  const { url } = api.connection;
  if (out.filters) return out.text(await streamText(answer));
  if (output === undefined) {
    await pipeline(answer, process.stdout, { end: false }).catch((error: unknown) => {
      throw transportFailure(error, url, 0);
    });
    return;
  }
  const beside = `${output}.part`;
  try {
    await pipeline(answer, createWriteStream(beside));
    renameSync(beside, output);
  } catch (error) {
    rmSync(beside, { force: true });
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' || syscall === 'rename' || syscall === 'write') {
      throw new Usage(`${output} cannot be written: ${brokenFile(error)}.`);
    }
    throw transportFailure(error, url, 0);
  }
  if (!out.json) out.note(`Wrote ${output}.`);
}
