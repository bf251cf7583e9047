import { memberSlices, present } from '@fairlead/blobs';

/** Members of a run's metadata that name the thread it belongs to; the first one that is there counts. */
const NAMES = ['session_id', 'thread_id', 'conversation_id'];

export function threadOf(extra: string | null): string | null {
  if (extra === null || !NAMES.some((name) => extra.includes(name))) return null;
  const metadata = present(memberSlices(Buffer.from(extra)).get('metadata'));
  if (metadata?.toString('latin1', 0, 1) !== '{') return null;
  const members = memberSlices(metadata);
  const named = NAMES.map((name) => present(members.get(name))).find((value) => value !== undefined);
  if (named === undefined) return null;
  const value: unknown = JSON.parse(named.toString('utf8'));
  return typeof value === 'string' ? value : named.toString('utf8');
}
