import { elementSlices, memberSlices } from '@fairlead/blobs';

export interface ExampleAttachment {
  readonly name: string;
  /** Media type without parameters. */
  readonly type: string;
  /** SHA-256 of the content, hex. */
  readonly sha256: string;
  readonly bytes: number;
}

export interface ChangedExample {
  readonly id: string;
  /** The example ends with this version. */
  readonly deleted?: true;
  readonly created_at?: string;
  readonly name?: string;
  readonly inputs?: string;
  readonly outputs?: string;
  readonly metadata?: string;
  readonly source_run_id?: string;
  readonly attachments?: readonly ExampleAttachment[];
}

const OPAQUE: ReadonlySet<string> = new Set(['inputs', 'outputs', 'metadata']);

/** The bytes of a change as they are kept: a JSON array, opaque members as they were sent. */
export function encodeExamples(examples: readonly ChangedExample[]): Buffer {
  const texts = examples.map((example) => {
    const members = Object.entries(example).filter(([, value]) => value !== undefined);
    const texts = members.map(
      ([name, value]) => `"${name}":${OPAQUE.has(name) ? String(value) : JSON.stringify(value)}`,
    );
    return `{${texts.join(',')}}`;
  });
  return Buffer.from(`[${texts.join(',')}]`);
}

export function decodeExamples(bytes: Buffer): ChangedExample[] {
  return elementSlices(bytes).map((slice) => {
    const members = [...memberSlices(slice)].map(([name, value]) => {
      const text = value.toString('utf8');
      return [name, OPAQUE.has(name) ? text : (JSON.parse(text) as unknown)] as const;
    });
    return Object.fromEntries(members) as unknown as ChangedExample;
  });
}
