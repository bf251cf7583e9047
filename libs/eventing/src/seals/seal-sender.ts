import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { idOf, type Recorded } from '../core/event';
import type { Projection } from '../followers/projection';
import type { LogSeal } from './log-seals';
import { type LockedBucket, putLocked } from './locked-bucket';

const ANSWER_MS = 10_000;

/**
 * Places outside of the database to which seals are sent, so that whoever can write to the database cannot change them.
 */
export interface SealTargets {
  readonly file?: string;
  /** Each seal is sent to it as JSON with POST; `token` goes with it as a bearer token. */
  readonly webhook?: { readonly url: string; readonly token?: string };
  /** Each seal becomes an object that nobody can change or delete for a time; its number is its name. */
  readonly bucket?: LockedBucket;
}

/**
 * Returns a follower that sends each new seal to the targets, in order and at least once. It retries for as long as a
 * target fails.
 */
export function sealSender({ file, webhook, bucket }: SealTargets): Projection {
  return {
    name: 'log.seals.sent',
    categories: ['logSeals'],
    optional: true,
    gatherMs: 100,
    async handle(events: Recorded[]) {
      for (const { data, stream } of events) {
        const text = JSON.stringify(data);
        if (file !== undefined) appendLine(file, text);
        if (webhook) await post(webhook, text);
        if (bucket) await putLocked(bucket, objectName(data as LogSeal, idOf(stream)), `${text}\n`);
      }
    },
  };
}

/**
 * Names sort as the seals follow each other. Seals of earlier versions have no number: their position stands for it.
 * Those that replace deleted ones are numbered from 1 again, and must not hide them.
 */
function objectName({ number, position }: LogSeal, series: string): string {
  const before = series === '1' ? '' : `${series}-`;
  const place = number === undefined ? `at-${String(position).padStart(20, '0')}` : String(number).padStart(12, '0');
  return `seal-${before}${place}.json`;
}

function appendLine(file: string, text: string): void {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    writeSync(descriptor, `${text}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

async function post({ url, token }: NonNullable<SealTargets['webhook']>, body: string): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`SEAL_WEBHOOK_URL answered ${answer.status}.`);
}
