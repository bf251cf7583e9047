import { memberSlices } from '../upload/json-slices';

/** The member of an example's metadata that names its splits; examples without it are of the split `base`. */
const SPLITS = 'dataset_split';

/** A change of a list in the metadata of examples. */
export interface ListChange {
  readonly key: string;
  readonly operation: 'array_add' | 'array_remove';
  readonly values: readonly string[];
}

/**
 * The metadata of an example as JSON text. Metadata that is given takes the place of the earlier one, whose splits stay
 * unless others are named. Undefined when nothing is given.
 */
export function newMetadata(
  given: string | undefined,
  splits: readonly string[] | undefined,
  earlier?: string | null,
): string | undefined {
  if (given === undefined && splits === undefined) return undefined;
  const members = membersOf(given ?? earlier);
  const kept = membersOf(earlier).get(SPLITS);
  if (splits !== undefined) members.set(SPLITS, JSON.stringify([...new Set(splits)]));
  else if (!members.has(SPLITS) && kept !== undefined) members.set(SPLITS, kept);
  // Untouched text stays byte for byte as it was sent.
  return given !== undefined && splits === undefined && membersOf(given).has(SPLITS) === members.has(SPLITS)
    ? given
    : textOf(members);
}

/** The metadata after changes of its lists; a list without values is left out. Undefined when nothing changes. */
export function changedLists(metadata: string | null, changes: readonly ListChange[]): string | undefined {
  const members = membersOf(metadata);
  let changed = false;
  for (const { key, operation, values } of changes) {
    const list = listOf(members.get(key));
    const after =
      operation === 'array_add'
        ? [...list, ...values.filter((value) => !list.includes(value))]
        : list.filter((value) => typeof value !== 'string' || !values.includes(value));
    if (after.length === list.length) continue;
    changed = true;
    if (after.length > 0) members.set(key, JSON.stringify(after));
    else members.delete(key);
  }
  return changed ? textOf(members) : undefined;
}

/** A text instead of a list is a list of one. */
function listOf(json: string | undefined): unknown[] {
  const value: unknown = json === undefined ? [] : JSON.parse(json);
  return Array.isArray(value) ? [...new Set<unknown>(value)] : [value];
}

function membersOf(metadata: string | null | undefined): Map<string, string> {
  const slices = metadata ? memberSlices(Buffer.from(metadata)) : new Map<string, Buffer>();
  return new Map([...slices].map(([name, slice]) => [name, slice.toString('utf8')]));
}

function textOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
