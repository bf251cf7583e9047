import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';

const ANSWER_MS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A bucket with object lock, whose objects nobody can change or delete for a time. */
export interface LockedBucket {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Address of the bucket, and of a folder in it where there is one, such as `https://s3.example/evidence/fairlead`. */
  readonly url: string;
  /** `COMPLIANCE` holds against everybody; `GOVERNANCE` not against those who may bypass it. */
  readonly mode: 'COMPLIANCE' | 'GOVERNANCE';
  readonly retainDays: number;
}

/** Puts an object into a bucket and locks it. @throws Error when the server refuses it, or stores it without a lock */
export async function putLocked(bucket: LockedBucket, name: string, body: string): Promise<void> {
  const { mode, retainDays } = bucket;
  // A plus sign would be signed as a space.
  const url = new URL(`${bucket.url.replace(/\/+$/, '')}/${name}`).href.replaceAll('+', '%2B');
  const headers = {
    // Amazon takes an object with a lock only with a digest of its content.
    'content-md5': createHash('md5').update(body).digest('base64'),
    'content-type': 'application/json',
    'x-amz-object-lock-mode': mode,
    'x-amz-object-lock-retain-until-date': new Date(Date.now() + retainDays * DAY_MS).toISOString(),
  };
  await send(bucket, { method: 'PUT', url, headers, body });
  const stored = await send(bucket, { method: 'HEAD', url, headers: {}, body: '' });
  const lock = stored.get('x-amz-object-lock-mode');
  // Servers without object lock pass the headers over, and answer 200.
  if (lock !== mode) {
    throw new Error(
      'SEAL_S3_URL shows no lock on a seal: the bucket needs object lock, the key s3:GetObjectRetention.',
    );
  }
}

interface Sent {
  readonly method: 'PUT' | 'HEAD';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function send({ accessKeyId, secretAccessKey, region }: LockedBucket, request: Sent): Promise<Headers> {
  const { method, url, body } = request;
  // The library signs the digest of the content only where it is given.
  const digest = createHash('sha256').update(body).digest('hex');
  const headers = { ...request.headers, 'x-amz-content-sha256': digest };
  const credentials = { accessKeyId, secretAccessKey, region, service: 's3' };
  const signed = await new AwsV4Signer({ method, url, headers, ...credentials }).sign();
  const answer = await fetch(signed.url, {
    method,
    headers: signed.headers,
    ...(method === 'PUT' && { body }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const reason = answer.ok ? '' : /<Code>(\w{1,80})<\/Code>/.exec((await answer.text()).slice(0, 4000))?.[1];
  if (answer.ok) await answer.body?.cancel();
  else throw new Error(`SEAL_S3_URL answered ${answer.status}${reason ? ` ${reason}` : ''} to ${method}.`);
  return answer.headers;
}
