import { Failure } from '../failure';
import { type Event, type Kept, parsed, type Verified, verifyHistory } from './exported-history';
import {
  type Cryptography,
  isSeal,
  leadToRoot,
  nameOf,
  type Seal,
  SealCheck,
  type SigningKey,
  type TreeProof,
} from './exported-seals';

/** A verified export of a workspace. */
export interface VerifiedWorkspace {
  readonly workspace: string;
  /** Position of the log up to which it goes. */
  readonly position: string;
  readonly events: number;
  readonly streams: number;
  readonly seals: number;
  readonly signedBy: string;
  readonly exportedAt: string;
  /** Parts without a verdict, one sentence each. */
  readonly unchecked: readonly string[];
  /** Questions that no export of one workspace answers, one sentence each. */
  readonly notCovered: readonly string[];
}

interface Head {
  readonly workspace: string;
  readonly position: string;
  readonly events: number;
  readonly streams: number;
  readonly seals: number;
  readonly hash: string;
  readonly deleted_streams: number;
  readonly exported_at: string;
}

/** Events of other workspaces in a stream, up to a version. */
interface Foreign {
  readonly stream: string;
  readonly version: number;
  readonly hash: string;
}

/** The command with which an operator checks what no export of one workspace shows. */
const OPERATOR = 'npm run audit -- --keys keys.json --head seals.jsonl';

/** Verifies an export of a deployment's history or of a workspace, whichever the first line says. @throws Failure */
export async function verifyExport(
  lines: AsyncIterable<string>,
  keys: readonly SigningKey[],
  cryptography: Cryptography,
  kept: Kept = {},
  workspace?: string,
): Promise<Verified | VerifiedWorkspace> {
  const rest = lines[Symbol.asyncIterator]();
  const first = await rest.next();
  const all = (async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
  if (!first.done && first.value.startsWith('{"workspace":')) {
    return verifyWorkspace(all, keys, cryptography, kept, workspace);
  }
  if (workspace === undefined) return verifyHistory(all, keys, cryptography, kept);
  throw new Failure('It is the history of one deployment, not the export of a workspace.');
}

/**
 * Verifies an exported workspace, line by line: that its events are those that were exported, all of them and in their
 * order, that each stream and each seal agrees with them, and that one of `keys` signed that; and that it agrees with
 * what was `kept`, and is of the workspace that is `expected`. It keeps a few numbers for each event.
 * @throws Failure that says what is not as it was
 */
async function verifyWorkspace(
  lines: AsyncIterable<string> | Iterable<string>,
  keys: readonly SigningKey[],
  cryptography: Cryptography,
  kept: Kept = {},
  expected?: string,
): Promise<VerifiedWorkspace> {
  if (kept.head?.stream !== undefined) {
    throw new Failure(`The head that was kept is of the history ${kept.head.stream}, and this is a whole workspace.`);
  }
  let number = 0;
  let first: Record<string, unknown> = {};
  let check: WorkspaceCheck | undefined;
  let signed: { readonly head: Head; readonly key_id: string; readonly signature: string } | undefined;
  for await (const line of lines) {
    number++;
    if (signed) throw new Failure(`Line ${number}: something follows after the signature.`);
    const value = parsed(line, number) as Record<string, unknown>;
    requireMembers(value, line, number);
    if (number === 1) first = value;
    if (!check) check = new WorkspaceCheck(workspaceOf(value, kept, expected), keys, cryptography, kept);
    else if ('head' in value) signed = value as unknown as typeof signed;
    else await check.add(value, number);
  }
  if (!check || !signed) throw new Failure('It is not complete: the last line, which holds the signature, is missing.');
  const head = Object(signed.head) as Head;
  const key = keys.find(({ kid }) => kid === signed.key_id);
  if (!key) throw new Failure(`It was signed with the key ${String(signed.key_id)}, which is not among the keys.`);
  if (!(await cryptography.isSigned(headText(head), String(signed.signature), key))) {
    throw new Failure('The signature is wrong.');
  }
  if (first.position !== head.position || first.exported_at !== head.exported_at) {
    throw new Failure('Line 1 names another position or time than the signed last line.');
  }
  return check.verdict(head, signed.key_id);
}

/** Members of the lines of an export by the one that tells them apart: the signatures and hashes cover no others. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  workspace: ['workspace', 'position', 'exported_at'],
  stream: ['id', 'stream', 'version', 'type', 'data', 'metadata', 'time'],
  foreign: ['foreign'],
  seal: ['seal'],
  head: ['head', 'key_id', 'signature'],
};

/** @throws Failure when a line has a member twice, in another notation, or one that nothing covers */
function requireMembers(value: Record<string, unknown>, line: string, number: number): void {
  const kind = Object.keys(MEMBERS).find((name) => name in value);
  if (kind === undefined) return;
  const others = Object.keys(value).filter((name) => !MEMBERS[kind]!.includes(name));
  if (others.length > 0)
    throw new Failure(`Line ${number}: no signature covers its member ${others[0]!.slice(0, 100)}.`);
  if (JSON.stringify(value) !== line.trim()) throw new Failure(`Line ${number} is not written as it was exported.`);
}

function headText(head: Head): string {
  const { workspace, position, events, streams, seals, hash, deleted_streams, exported_at } = head;
  const counts = [events, streams, seals, deleted_streams];
  return JSON.stringify(['fairlead workspace', workspace, position, ...counts, hash, exported_at]);
}

/** Returns the workspace of the first line, when it is the one that is wanted. @throws Failure */
function workspaceOf({ workspace }: Record<string, unknown>, { head }: Kept, expected: string | undefined): string {
  if (typeof workspace !== 'string') throw new Failure('Line 1 does not say of which workspace it is.');
  if (expected !== undefined && workspace !== expected) {
    throw new Failure(`It is an export of the workspace ${workspace}, not of ${expected}.`);
  }
  if (head?.workspace !== undefined && workspace !== head.workspace) {
    throw new Failure(
      `It is an export of the workspace ${workspace}, and the head that was kept is of ${head.workspace}.`,
    );
  }
  return workspace;
}

/** A stream as far as it was read: its number among the streams, its hash, and what its newest event covers. */
interface StreamState {
  readonly index: number;
  version: number;
  hash: string;
  covered: number;
  held: string | undefined;
}

class WorkspaceCheck {
  private readonly streams = new Map<string, StreamState>();
  private readonly seals: SealCheck;
  private hash = '';
  /** Where events begin to differ from what later ones say of them. */
  private where = '';
  /** Leaves of the events since the last seal. */
  private leaves: string[] = [];
  private foreign = 0;
  /** For each event: its stream, its version, up to which version it has a hash of its stream, and the seal that proves it. */
  private readonly streamOf: number[] = [];
  private readonly versionOf: number[] = [];
  private readonly covers: number[] = [];
  private readonly sealOf: number[] = [];

  constructor(
    private readonly workspace: string,
    keys: readonly SigningKey[],
    private readonly cryptography: Cryptography,
    private readonly kept: Kept,
  ) {
    this.seals = new SealCheck(keys, cryptography);
  }

  add(value: Record<string, unknown>, line: number): Promise<void> {
    if ('seal' in value) return this.addSeal(value.seal, line);
    return 'foreign' in value ? this.addForeign(value.foreign as Foreign, line) : this.addEvent(value as never, line);
  }

  private async addEvent({ id, stream, version, type, data, metadata, time }: Event, line: number): Promise<void> {
    if (typeof stream !== 'string') throw new Failure(`Line ${line} is no line of an exported workspace.`);
    const { previous, tenant } = Object(metadata) as Event['metadata'];
    if (tenant !== this.workspace) throw new Failure(`Line ${line}: the event is of another workspace.`);
    const state = this.stateOf(stream);
    if (version !== state.version + 1) {
      throw new Failure(`Line ${line}: version ${state.version + 1} of ${stream} belongs here.`);
    }
    // The events of one append hold the same hash: that of the stream before the first of them.
    if (previous !== undefined && previous !== state.held) {
      state.held = previous;
      state.covered = state.version;
      if (previous !== state.hash && this.where === '') this.where = `${stream}, before line ${line}`;
    }
    const { cryptography } = this;
    state.hash = await cryptography.sha256(
      JSON.stringify([state.hash, stream, version, id, type, data, metadata, time]),
    );
    state.version = version;
    this.streamOf.push(state.index);
    this.versionOf.push(version);
    this.covers.push(previous === undefined ? 0 : state.covered);
    this.sealOf.push(-1);
    const told = ['fairlead event', stream, version, id, type, data, metadata, time];
    const leaf = await cryptography.sha256(JSON.stringify(told));
    this.leaves.push(leaf);
    await this.hashed('event', stream, version, leaf);
    const { head } = this.kept;
    if (head && this.streamOf.length === head.version && this.hash !== head.hash) {
      throw new Failure(`Up to line ${line} it is not the workspace that the head was kept of.`);
    }
  }

  private async addForeign({ stream, version, hash }: Foreign, line: number): Promise<void> {
    const state = this.stateOf(String(stream));
    if (!(version > state.version)) throw new Failure(`Line ${line} is no line of an exported workspace.`);
    this.foreign += version - state.version;
    state.version = version;
    state.hash = String(hash);
    await this.hashed('foreign', stream, version, hash);
  }

  private async addSeal(seal: unknown, line: number): Promise<void> {
    if (!isSeal(seal)) throw new Failure(`Line ${line}: the seal cannot be read.`);
    const before = this.seals.seals.at(-1);
    if (before && before.count >= seal.count) throw new Failure(`Line ${line}: ${nameOf(seal)} is not in its place.`);
    await this.seals.add(seal);
    const proof = proofOf(seal);
    if (proof) {
      const leaves = this.leaves.slice(this.leaves.length - proof.at.length);
      if (!(await leadToRoot(seal, proof, leaves, this.cryptography))) {
        throw new Failure(`Line ${line}: the events before it are not what ${nameOf(seal)} sealed.`);
      }
      this.sealOf.fill(this.seals.seals.length - 1, this.sealOf.length - leaves.length);
    }
    this.leaves = [];
  }

  async verdict(head: Head, signedBy: string): Promise<VerifiedWorkspace> {
    const { workspace, kept } = this;
    const { position, exported_at: exportedAt, deleted_streams: deleted } = head;
    const [events, streams, seals] = [this.streamOf.length, this.streams.size, this.seals.seals.length];
    if (head.workspace !== workspace) throw new Failure('Line 1 names another workspace than the signed line.');
    if (events !== head.events) throw new Failure(`It holds ${events} events, and ${head.events} were exported.`);
    if (streams !== head.streams) throw new Failure(`It holds ${streams} streams, and ${head.streams} were exported.`);
    if (seals !== head.seals) throw new Failure(`It holds ${seals} seals, and ${head.seals} were exported.`);
    if (this.hash !== head.hash) throw new Failure(`Its events are not those that were exported${this.found()}.`);
    if (this.where !== '') {
      throw new Failure(`An event names the hash of other events than those before it${this.found()}.`);
    }
    if (kept.head && events < kept.head.version) {
      throw new Failure(`It has ${events} events, and the head that was kept is of ${kept.head.version}.`);
    }
    const { isKept, reasons } = this.seals.against(kept.seals ?? []);
    const unchecked = [...reasons, ...this.notHeld(isKept)];
    if (deleted > 0) {
      unchecked.push(`No verdict on ${deleted} streams of the log, which somebody deleted in the event store.`);
    }
    return {
      workspace,
      position,
      events,
      streams,
      seals,
      signedBy,
      exportedAt,
      unchecked,
      notCovered: this.notCovered(),
    };
  }

  private stateOf(stream: string): StreamState {
    const known = this.streams.get(stream);
    if (known) return known;
    const state = { index: this.streams.size, version: 0, hash: '', covered: 0, held: undefined };
    this.streams.set(stream, state);
    return state;
  }

  private found(): string {
    return this.where && `: the fault is in ${this.where}`;
  }

  private async hashed(...told: unknown[]): Promise<void> {
    this.hash = await this.cryptography.sha256(JSON.stringify(['fairlead workspace', this.hash, ...told]));
  }

  /** Says how many events neither a kept seal nor a kept head vouches for; an event vouches for those it has a hash of. */
  private notHeld(isKept: readonly boolean[]): string[] {
    const upTo = this.kept.head?.version ?? 0;
    const isHeld = (at: number) => at < upTo || isKept[this.sealOf[at]!] === true;
    const until: number[] = [];
    for (const [at, stream] of this.streamOf.entries()) {
      if (isHeld(at)) until[stream] = Math.max(until[stream] ?? 0, this.covers[at]!);
    }
    let [count, first] = [0, -1];
    for (const [at, stream] of this.streamOf.entries()) {
      if (isHeld(at) || this.versionOf[at]! <= (until[stream] ?? 0)) continue;
      count += 1;
      if (first < 0) first = at;
    }
    if (count === 0) return [];
    const name = [...this.streams.keys()][this.streamOf[first]!];
    const unsealed = this.leaves.length === 0 ? '' : `; the newest ${this.leaves.length} were not sealed yet`;
    return [
      `No verdict on ${count} of ${this.streamOf.length} events, from version ${this.versionOf[first]} of ${name} on: no head or seal that was kept vouches for them${unsealed}.`,
    ];
  }

  private notCovered(): string[] {
    const others = `${this.foreign} events of other workspaces in streams of this one are left out; their hash is there.`;
    return [
      `Whether the service left out events or streams of this workspace, and whether the pages show what the log says: that takes the whole log of all workspaces, which only the operator can check, with ${OPERATOR}`,
      ...(this.foreign > 0 ? [others] : []),
    ];
  }
}

/** @throws Failure for what is no proof */
function proofOf(seal: Seal): TreeProof | undefined {
  if (seal.proof === undefined) return undefined;
  const { at, others } = Object(seal.proof) as Partial<TreeProof>;
  const isList = Array.isArray(at) && Array.isArray(others) && others.every((one) => typeof one === 'string');
  if (isList && at.every((place, index) => Number.isSafeInteger(place) && place > (at[index - 1] ?? -1))) {
    return { at, others };
  }
  throw new Failure(`The proof of ${nameOf(seal)} cannot be read.`);
}
