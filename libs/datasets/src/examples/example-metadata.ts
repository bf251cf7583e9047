import { memberSlices, present } from '@fairlead/blobs';
import { sameMembers } from './same-json';

/**
 * The member of an example's metadata that names its splits. An example in no split is in `base`: its metadata are kept
 * without this member, and answered with it.
 */
const SPLITS = 'dataset_split';
const BASE = 'base';
const IN_BASE = Buffer.from(JSON.stringify([BASE]));

export interface ListChange {
  readonly key: string;
  readonly operation: 'array_add' | 'array_remove';
  readonly values: readonly string[];
}

type Members = Map<string, Buffer>;

export function shownMetadata(metadata: string | null): string {
  const members = membersOf(metadata);
  if (metadata !== null && isNamed(members.get(SPLITS))) return metadata;
  if (metadata === null || members.has(SPLITS)) return textOf(members.set(SPLITS, IN_BASE));
  // Text that is kept stays byte for byte as it was sent.
  const kept = metadata.slice(0, metadata.lastIndexOf('}'));
  return `${kept}${members.size > 0 ? ',' : ''}"${SPLITS}":${IN_BASE.toString()}}`;
}

/**
 * The metadata of an example as JSON text. Metadata that is given takes the place of the earlier one, whose splits stay
 * unless others are named. Undefined when nothing is given, or nothing changes.
 */
export function newMetadata(
  given: string | undefined,
  splits: readonly string[] | undefined,
  earlier?: string | null,
): string | undefined {
  if (given === undefined && splits === undefined) return undefined;
  const before = keptMembers(earlier);
  const members = membersOf(given ?? earlier);
  const sent = members.get(SPLITS);
  const named = splits ? Buffer.from(JSON.stringify([...new Set(splits)])) : (present(sent) ?? before.get(SPLITS));
  keepSplits(members, named);
  if (sameMembers(members, before)) return undefined;
  // Untouched text stays byte for byte as it was sent.
  return given !== undefined && members.get(SPLITS) === sent ? given : textOf(members);
}

/** True for a JSON object that the shown metadata of an example can contain when none are kept. */
export function mayBeShownOfNone(json: string): boolean {
  const members = membersOf(json);
  return members.size === 0 || members.has(SPLITS);
}

export function sameMetadata(one: string | null | undefined, other: string | null | undefined): boolean {
  return sameMembers(keptMembers(one), keptMembers(other));
}

export function changedLists(metadata: string | null, changes: readonly ListChange[]): string | undefined {
  const before = keptMembers(metadata);
  const members = new Map(before);
  for (const { key, operation, values } of changes) {
    const list = listOf(members.get(key));
    const after =
      operation === 'array_add'
        ? [...list, ...values.filter((value) => !list.includes(value))]
        : list.filter((value) => typeof value !== 'string' || !values.includes(value));
    if (after.length === list.length) continue;
    if (after.length > 0) members.set(key, Buffer.from(JSON.stringify(after)));
    else members.delete(key);
    keepSplits(members, members.get(SPLITS));
  }
  return sameMembers(members, before) ? undefined : textOf(members);
}

/** A text instead of a list is a list of one. */
function listOf(json: Buffer | undefined): unknown[] {
  const value: unknown = json === undefined ? [] : JSON.parse(json.toString('utf8'));
  return Array.isArray(value) ? [...new Set<unknown>(value)] : [value];
}

function isNamed(splits: Buffer | undefined): boolean {
  return present(splits) !== undefined && listOf(splits).some((split) => split !== BASE);
}

function keepSplits(members: Members, splits: Buffer | undefined): void {
  if (splits !== undefined && isNamed(splits)) members.set(SPLITS, splits);
  else members.delete(SPLITS);
}

function keptMembers(metadata: string | null | undefined): Members {
  const members = membersOf(metadata);
  keepSplits(members, members.get(SPLITS));
  return members;
}

function membersOf(metadata: string | null | undefined): Members {
  return metadata ? memberSlices(Buffer.from(metadata)) : new Map<string, Buffer>();
}

function textOf(members: ReadonlyMap<string, Buffer>): string {
  return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json.toString('utf8')}`).join(',')}}`;
}
