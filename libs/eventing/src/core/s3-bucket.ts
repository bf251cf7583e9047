import { createHash } from 'node:crypto';
import { type S3Credentials, signedHeaders } from './s3-signature';

const ANSWER_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A bucket with object lock, whose objects nobody can change or delete for a time. */
export interface LockedBucket extends S3Credentials {
  /** Address of the bucket, and of a folder in it where there is one, such as `https://s3.example/evidence/fairlead`. */
  readonly url: string;
  /** `COMPLIANCE` holds against everybody; `GOVERNANCE` not against those who may bypass it. */
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly retainDays: number;
}

/** Puts an object into a bucket and locks it. @throws Error when the server refuses it, or stores it without a lock */
export async function putLocked(bucket: LockedBucket, name: string, body: string, now = new Date()): Promise<void> {
  const { mode, retainDays } = bucket;
  const until = new Date(now.getTime() + retainDays * DAY_MS).toISOString();
  const url = new URL(`${bucket.url.replace(/\/+$/, '')}/${name}`);
  const headers = {
    // Amazon takes an object with a lock only with a digest of its content.
    'content-md5': createHash('md5').update(body).digest('base64'),
    'content-type': 'application/json',
    'x-amz-object-lock-mode': mode,
    'x-amz-object-lock-retain-until-date': until,
  };
  await send(bucket, { method: 'PUT', url, headers, body }, now);
  const stored = await send(bucket, { method: 'HEAD', url, headers: {}, body: '' }, now);
  const lock = stored.get('x-amz-object-lock-mode');
  // Servers without object lock pass the headers over, and answer 200.
  if (lock !== mode) {
    throw new Error(
      'SEAL_S3_URL shows no lock on a seal: the bucket needs object lock, the key s3:GetObjectRetention.',
    );
  }
}

async function send(bucket: LockedBucket, request: Parameters<typeof signedHeaders>[0], now: Date): Promise<Headers> {
  const headers = signedHeaders(request, bucket, now);
  const answer = await fetch(request.url, {
    method: request.method,
    headers,
    ...(request.method === 'PUT' && { body: request.body }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const reason = answer.ok ? '' : /<Code>(\w{1,80})<\/Code>/.exec((await answer.text()).slice(0, 4000))?.[1];
  if (answer.ok) await answer.body?.cancel();
  else throw new Error(`SEAL_S3_URL answered ${answer.status}${reason ? ` ${reason}` : ''} to ${request.method}.`);
  return answer.headers;
}
