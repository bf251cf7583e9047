import { Failure } from '../failure';
import { checkSeals, type Cryptography, isSeal, type KeptSeal, type SigningKey } from './exported-seals';

export interface Verified {
  readonly stream: string;
  readonly events: number;
  readonly signedBy: string;
  readonly exportedAt: string;
  /** Parts without a verdict, one sentence each: only evidence kept outside shows that a history was not rewritten. */
  readonly unchecked: readonly string[];
}

export interface Event {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: { readonly previous?: string; readonly tenant?: string };
  readonly time: string;
}

interface Head {
  readonly head: {
    readonly stream: string;
    readonly version: number;
    readonly hash: string;
    readonly exported_at: string;
  };
  readonly key_id: string;
  readonly signature: string;
  /** The seals since the first event; exports of earlier versions have none. */
  readonly seals?: unknown;
}

/**
 * A place in a history that somebody has kept: its hash up to a version; of a workspace, its hash up to a number of
 * events.
 */
interface ExpectedHead {
  readonly stream?: string;
  readonly workspace?: string;
  readonly version: number;
  readonly hash: string;
}

/** Evidence that somebody has kept outside of the installation, to hold a later export against. */
export interface Kept {
  readonly head?: ExpectedHead;
  readonly seals?: readonly KeptSeal[];
}

/** Returns what an export keeps for later ones: its head and its seals; undefined when the text is no export. */
export function keptOf(exported: string): Kept | undefined {
  try {
    const { head, seals } = JSON.parse(exported.trimEnd().split('\n').at(-1) ?? '') as Head & Kept;
    const { workspace, events, hash } = head as unknown as Record<string, unknown>;
    if (typeof workspace === 'string' && Number.isSafeInteger(events) && typeof hash === 'string') {
      return { head: { workspace, version: events as number, hash } };
    }
    if (Number.isSafeInteger(head.version) && typeof head.hash === 'string') {
      return { head, seals: Array.isArray(seals) && seals.every(isSeal) ? seals : undefined };
    }
  } catch {
    // Told by the caller.
  }
  return undefined;
}

/**
 * Verifies an exported history, line by line: that its events are those that were exported, all of them and in their
 * order, and that one of `keys` signed that and the seals in it; and that it agrees with what was `kept`. The command
 * line and the console both use it. @throws Failure that says what is not as it was
 */
export async function verifyHistory(
  lines: AsyncIterable<string> | Iterable<string>,
  keys: readonly SigningKey[],
  cryptography: Cryptography,
  kept: Kept = {},
): Promise<Verified> {
  const expected = kept.head;
  if (expected?.workspace !== undefined) {
    throw new Failure(`The head that was kept is of the workspace ${expected.workspace}, and this is one history.`);
  }
  const chain = new Chain(cryptography, expected);
  let head: Head | undefined;
  let number = 0;
  for await (const line of lines) {
    number++;
    if (head) throw new Failure(`Line ${number}: something follows after the signature.`);
    const value = parsed(line, number);
    if ('head' in value) head = value as unknown as Head;
    else await chain.add(value as unknown as Event, number);
  }
  if (!head) throw new Failure('The last line, which holds the signature, is missing.');
  const { stream, version, hash, exported_at } = Object(head.head) as Head['head'];
  const key = keys.find(({ kid }) => kid === head.key_id);
  if (!key) throw new Failure(`It was signed with the key ${String(head.key_id)}, which is not among the keys.`);
  const said = JSON.stringify(['fairlead stream', stream, version, hash, exported_at]);
  if (!(await cryptography.isSigned(said, String(head.signature), key))) throw new Failure('The signature is wrong.');
  if (chain.count !== version) throw new Failure(`It holds ${chain.count} events, and ${version} were exported.`);
  if (chain.hash !== hash || (chain.stream ?? stream) !== stream) {
    throw new Failure(`The events are not those that were exported${chain.where}.`);
  }
  if (expected && chain.count < expected.version) {
    throw new Failure(`It ends with version ${chain.count}, and the head that was kept is of ${expected.version}.`);
  }
  if (chain.where !== '') {
    throw new Failure(`An event names the hash of other events than those before it${chain.where}.`);
  }
  const { versions, reasons } = await checkSeals(head.seals, chain.leaves, keys, cryptography, kept.seals ?? []);
  const unchecked = [...reasons, ...chain.notHeld(versions, expected?.version ?? 0)];
  return { stream, events: version, signedBy: head.key_id, exportedAt: exported_at, unchecked };
}

/** The hash of the events so far, and where it first was not what a later event says. */
class Chain {
  hash = '';
  count = 0;
  stream: string | undefined;
  /** Where they begin to differ, as far as events tell. */
  where = '';
  /** The leaf of each event in the tree of a seal. */
  readonly leaves: string[] = [];
  /** For each event, how many events before it its own hash of them covers. */
  private readonly covers: number[] = [];
  private covered = 0;
  private held: string | undefined;

  constructor(
    private readonly cryptography: Cryptography,
    private readonly expected?: ExpectedHead,
  ) {}

  async add({ id, stream, version, type, data, metadata, time }: Event, line: number): Promise<void> {
    if (typeof stream !== 'string') throw new Failure(`Line ${line} is no event of an exported history.`);
    this.stream ??= stream;
    if (stream !== this.stream || version !== this.count + 1) {
      throw new Failure(`Line ${line}: version ${this.count + 1} of ${this.stream} belongs here.`);
    }
    // The events of one append hold the same hash: that of the stream before the first of them.
    const { previous } = Object(metadata) as Event['metadata'];
    if (previous !== undefined && previous !== this.held) {
      this.held = previous;
      this.covered = this.count;
      if (previous !== this.hash && this.where === '') this.where = `: the fault is before line ${line}`;
    }
    const text = JSON.stringify([this.hash, stream, version, id, type, data, metadata, time]);
    this.hash = await this.cryptography.sha256(text);
    this.count = version;
    this.covers.push(previous === undefined ? 0 : this.covered);
    const leaf = JSON.stringify(['fairlead event', stream, version, id, type, data, metadata, time]);
    this.leaves.push(await this.cryptography.sha256(leaf));
    if (version !== this.expected?.version) return;
    const { stream: kept = stream, hash } = this.expected;
    if (this.hash !== hash || stream !== kept) {
      throw new Failure(`Up to line ${line} it is not the history that the head was kept of.`);
    }
  }

  /** Says which events neither a kept seal nor a kept head vouches for; an event vouches for those it has a hash of. */
  notHeld(sealed: ReadonlySet<number>, upTo: number): string[] {
    let until = upTo;
    for (const version of sealed) until = Math.max(until, this.covers[version - 1] ?? 0);
    const missing = this.leaves
      .map((_, index) => index + 1)
      .filter((version) => version > until && !sealed.has(version));
    if (missing.length === 0) return [];
    const what = missing.length === 1 ? `version ${missing[0]}` : `versions ${missing[0]} to ${missing.at(-1)}`;
    return [`No verdict on ${what} of ${this.count}: no head or seal that was kept vouches for it.`];
  }
}

export function parsed(line: string, number: number): object {
  try {
    const value = JSON.parse(line) as unknown;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new Failure(`Line ${number} is not a JSON object.`);
}
