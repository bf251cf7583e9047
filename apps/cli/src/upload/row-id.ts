import { createHash } from 'node:crypto';
import { rowName } from './import-report';

/** Namespace of the row ids that are made here. */
const NAMESPACE = Buffer.from('6b1d6b1c3d5f5d1ea3cf1ad0f1eab7e0', 'hex');
const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** A row of which an id is wanted; `inputs` and `reference` are JSON. */
interface Row {
  readonly name: string | undefined;
  readonly inputs: string;
  readonly reference: string | undefined;
  /** From 1. */
  readonly row: number;
  readonly line: number;
}

interface Known {
  readonly row: number;
  readonly line: number;
  readonly inputs: string;
  readonly reference: string | undefined;
}

/**
 * The ids of the rows of one file. The same id twice is a repetition; a row that has the id of another one, but other
 * inputs or another reference, gets an id of its own, because one example could only keep one of them.
 */
export class RowIds {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly by: 'inputs' | 'number',
    private readonly onNote: (text: string) => void,
  ) {}

  /** The row's id, and its own name where that is no UUID. */
  of(given: Row): { readonly id: string; readonly name: string | undefined } {
    const { name } = given;
    if (name === undefined && this.by === 'number') return { id: uuidOf(`row ${given.row - 1}`), name };
    const inputs = canonical(JSON.parse(given.inputs));
    const first = name === undefined ? uuidOf(`inputs ${inputs}`) : namedRowId(name);
    const id = this.apart(first, given, inputs);
    return { id, name: name !== undefined && UUID.test(name) && id === first ? undefined : name };
  }

  private apart(id: string, { name, row, line, reference }: Row, inputs: string): string {
    const content = { inputs: digest(inputs), reference: reference && digest(canonical(JSON.parse(reference))) };
    const known = this.known.get(id);
    if (!known) this.known.set(id, { row, line, ...content });
    const isSame = known?.inputs === content.inputs && (!content.reference || content.reference === known.reference);
    if (!known || isSame) return id;
    const [here, there] = [rowName({ row, line }), rowName(known)];
    this.onNote(
      name === undefined
        ? `${here} has the inputs of ${there}, but other expected outputs: it became a row of its own.`
        : `${here} has the row_id ${name}, as ${there} has, but other inputs or expected outputs: it became a row of its own.`,
    );
    return uuidOf(`apart ${id} ${content.inputs} ${content.reference}`);
  }
}

/** The id of a row that names itself: its own UUID, in whichever form, or one that is the same for the same name. */
function namedRowId(name: string): string {
  return UUID.test(name) ? dashed(name.replaceAll('-', '').toLowerCase()) : uuidOf(`name ${name}`);
}

function dashed(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function digest(text: string): string {
  return createHash('sha1').update(text).digest('base64');
}

/** A UUID of version 5. */
function uuidOf(text: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(text).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return dashed(hash.toString('hex', 0, 16));
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, of]) => `${JSON.stringify(name)}:${canonical(of)}`).join(',')}}`;
}
