import { resolve } from 'node:path';
import { SEAL_SCHEDULE, type SealSchedule, type SealTargets } from '@fairlead/eventing';
import { note, oneOf, optional, type Reading, setting, whole } from '@fairlead/schema';
import { matching, MOST_SECONDS, secretWord, urlThat } from './texts';

const webAddress = urlThat(
  ({ protocol, username }) => /^https?:$/.test(protocol) && username === '',
  'must be an address like https://evidence.example/seals, without credentials',
);
const bucketAddress = urlThat(
  ({ protocol, username, search, hash }) => /^https?:$/.test(protocol) && `${username}${search}${hash}` === '',
  'must be the address of a bucket like https://s3.example/evidence',
);
const region = matching(/^[a-z0-9-]{1,64}$/, 'must be the name of a region like eu-central-1');

export const SEALS = {
  SEAL_EVERY_EVENTS: note(
    optional(whole(100, 10_000_000), SEAL_SCHEDULE.everyEvents),
    'Number of events after which the log is sealed ([audit](../guides/audit.md#store-what-an-audit-needs)).',
  ),
  SEAL_EVERY: note(
    optional(whole(1, MOST_SECONDS), SEAL_SCHEDULE.everyMs / 1000),
    'Seconds after which an event is sealed at the latest.',
  ),
  SEAL_FILE: note(optional(setting((text) => resolve(text))), 'File that each seal is appended to, as a line of JSON.'),
  SEAL_WEBHOOK_URL: note(optional(webAddress), 'Address that each seal is sent to with POST, as JSON.'),
  SEAL_WEBHOOK_TOKEN: note(optional(secretWord(16)), 'Bearer token for that address; needs `SEAL_WEBHOOK_URL`.'),
  SEAL_S3_URL: note(optional(bucketAddress), 'Bucket with object lock that stores each seal; needs the two keys.'),
  SEAL_S3_ACCESS_KEY_ID: note(optional(secretWord(1)), 'Access key of the bucket.'),
  SEAL_S3_SECRET_ACCESS_KEY: note(optional(secretWord(1)), 'Secret key of the bucket.'),
  SEAL_S3_REGION: note(optional(region, 'us-east-1'), 'Region of the bucket.'),
  SEAL_S3_MODE: note(
    optional(oneOf(['compliance', 'governance']), 'compliance'),
    '`compliance`: nobody can remove the lock of a seal. `governance`: those who may bypass it can.',
  ),
  SEAL_S3_RETAIN_DAYS: note(optional(whole(1, 36_500), 365), 'Days for which each seal is locked.'),
};

type Read = Reading<typeof SEALS>;

/** Returns when the log is sealed, and where seals are sent. Adds mistakes to `mistakes`. */
export function sealSettings(read: Read, mistakes: string[]): SealSchedule & SealTargets {
  return {
    everyEvents: read('SEAL_EVERY_EVENTS'),
    everyMs: 1000 * read('SEAL_EVERY'),
    file: read('SEAL_FILE'),
    webhook: webhook(read, mistakes),
    bucket: bucket(read, mistakes),
  };
}

function webhook(read: Read, mistakes: string[]): SealTargets['webhook'] {
  const url = read('SEAL_WEBHOOK_URL');
  const token = read('SEAL_WEBHOOK_TOKEN');
  if (token !== undefined && url === undefined) mistakes.push('SEAL_WEBHOOK_TOKEN needs SEAL_WEBHOOK_URL.');
  return url === undefined ? undefined : { url, token };
}

const BUCKET_MODES = { compliance: 'COMPLIANCE', governance: 'GOVERNANCE' } as const;

function bucket(read: Read, mistakes: string[]): SealTargets['bucket'] {
  const url = read('SEAL_S3_URL');
  const accessKeyId = read('SEAL_S3_ACCESS_KEY_ID');
  const secretAccessKey = read('SEAL_S3_SECRET_ACCESS_KEY');
  const region = read('SEAL_S3_REGION');
  const mode = BUCKET_MODES[read('SEAL_S3_MODE')];
  const retainDays = read('SEAL_S3_RETAIN_DAYS');
  if (url !== undefined && accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { url, accessKeyId, secretAccessKey, region, mode, retainDays };
  }
  if ([url, accessKeyId, secretAccessKey].some((one) => one !== undefined)) {
    mistakes.push('SEAL_S3_URL, SEAL_S3_ACCESS_KEY_ID and SEAL_S3_SECRET_ACCESS_KEY need one another.');
  }
  return undefined;
}
