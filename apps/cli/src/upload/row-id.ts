import { createHash } from 'node:crypto';

/** Of row ids that are made here. */
const NAMESPACE = Buffer.from('6b1d6b1c3d5f5d1ea3cf1ad0f1eab7e0', 'hex');
const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** The id of a row that names itself: its own UUID, or one that is the same for the same name. */
export function namedRowId(name: string): string {
  return UUID.test(name) ? name : uuidOf(`name ${name}`);
}

/** The id of a row by its inputs (JSON), whatever the order of their members. */
export function rowIdOfInputs(inputs: string): string {
  return uuidOf(`inputs ${canonical(JSON.parse(inputs))}`);
}

/** The id of a row by its place in the file. */
export function rowIdOfNumber(row: number): string {
  return uuidOf(`row ${row}`);
}

/** A UUID of version 5. */
function uuidOf(text: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(text).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, of]) => `${JSON.stringify(name)}:${canonical(of)}`).join(',')}}`;
}
