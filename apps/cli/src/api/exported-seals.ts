import { Failure } from '../failure';

/** A public key of an installation as JWK, with its id. */
export interface SigningKey {
  readonly kid: string;
  readonly kty?: string;
  readonly crv?: string;
  readonly x?: string;
}

/** The cryptography of the environment: Node.js, or a browser. */
export interface Cryptography {
  /** Returns the SHA-256 of a text, base64url. */
  sha256(text: string): string | Promise<string>;
  /** Returns whether a key made this Ed25519 signature (base64url) of a text; false also for what is no key. */
  isSigned(text: string, signature: string, key: SigningKey): boolean | Promise<boolean>;
}

/** A seal of the log as an export carries it, or as it was sent out. */
export interface Seal {
  readonly number?: number;
  readonly previous?: string;
  readonly day: string;
  readonly position: string;
  readonly count: number;
  readonly hash: string;
  readonly from?: number;
  readonly root?: string;
  readonly key_id: string;
  readonly signature: string;
  /** The hashes beside each event of the history on the way to `root`, by the version of the event. */
  readonly paths?: Readonly<Record<string, readonly string[]>>;
  /** In the export of a workspace: shows that its events since the seal before are under `root`. */
  readonly proof?: unknown;
}

/**
 * Shows that events of a workspace are in the tree of a seal: their places in it, and the roots of the largest subtrees
 * that contain none of them, from left to right.
 */
export interface TreeProof {
  readonly at: readonly number[];
  readonly others: readonly string[];
}

/** A place in the log that somebody has kept: a seal, or its hash up to a position. */
export type KeptSeal = Seal | Pick<Seal, 'position' | 'hash'>;

/** The events of a history that kept seals show to be unchanged, and why others are not shown. */
interface Held {
  readonly versions: ReadonlySet<number>;
  readonly reasons: readonly string[];
}

/** Which seals of an export somebody vouches for, and why nothing is said of others. */
interface KeptSeals {
  readonly isKept: readonly boolean[];
  readonly reasons: readonly string[];
}

/** The seals of an export, held against the keys and against each other one after the other. */
export class SealCheck {
  readonly seals: Seal[] = [];
  private readonly isLinked: boolean[] = [];

  constructor(
    private readonly keys: readonly SigningKey[],
    private readonly cryptography: Cryptography,
  ) {}

  /** Adds the next seal. @throws Failure that says what contradicts */
  async add(seal: Seal): Promise<void> {
    const { keys, cryptography } = this;
    const key = keys.find(({ kid }) => kid === seal.key_id);
    if (!key) throw new Failure(`${capital(nameOf(seal))} was signed with a key that is not among the keys.`);
    if (!(await cryptography.isSigned(sealText(seal), seal.signature, key))) {
      throw new Failure(`The signature of ${nameOf(seal)} is wrong.`);
    }
    const before = this.seals.at(-1);
    this.isLinked.push(before !== undefined && seal.previous !== undefined);
    if (before && seal.previous !== undefined && seal.previous !== (await sealHash(before, cryptography))) {
      throw new Failure(`${capital(nameOf(seal))} does not follow the seal before it: seals were changed or removed.`);
    }
    this.seals.push(seal);
  }

  /** Holds them against the seals that somebody has kept. @throws Failure that says what contradicts */
  against(kept: readonly KeptSeal[]): KeptSeals {
    const { seals, isLinked } = this;
    const reasons: string[] = [];
    const isKept = seals.map(() => false);
    for (const one of kept) {
      const at = seals.findIndex((seal) => isSamePlace(seal, one));
      if (at < 0) {
        if (!('count' in one)) reasons.push(`No verdict by ${nameOf(one)}: no seal of the export is at this position.`);
      } else if (isSame(seals[at]!, one)) isKept[at] = true;
      else {
        throw new Failure(
          `${capital(nameOf(seals[at]!))} is not the one that was kept: the log was rewritten and sealed again, or its seals were replaced.`,
        );
      }
    }
    const newest = Math.max(0, ...seals.map(({ count }) => count));
    const later = kept.find((one): one is Seal => 'count' in one && one.count > newest);
    if (later) {
      reasons.push(
        `No verdict on the end: ${nameOf(later)} is later than the seals of the export, which was made before it or from a log that was cut off.`,
      );
    }
    // A seal names the one before it, so a kept one vouches for those before it.
    for (let at = seals.length - 1; at > 0; at--) isKept[at - 1] ||= isKept[at]! && isLinked[at]!;
    return { isKept, reasons };
  }
}

/**
 * Holds the seals of an export against the keys, against each other, against the events and against the seals that
 * somebody has kept. `leaves`: the leaf of each event, in order of versions. @throws Failure that says what contradicts
 */
export async function checkSeals(
  given: unknown,
  leaves: readonly string[],
  keys: readonly SigningKey[],
  cryptography: Cryptography,
  kept: readonly KeptSeal[],
): Promise<Held> {
  const seals = given === undefined ? [] : sealsOf(given);
  const check = new SealCheck(keys, cryptography);
  for (const seal of seals) {
    await check.add(seal);
    for (const [version, path] of Object.entries(seal.paths ?? {})) {
      const leaf = leaves[Number(version) - 1];
      if (leaf === undefined || (await rootFrom(leaf, path, cryptography)) !== seal.root) {
        throw new Failure(`Version ${version} is not what ${nameOf(seal)} sealed.`);
      }
    }
  }
  const { isKept, reasons } = check.against(kept);
  const versions = seals.flatMap(({ paths = {} }, at) => (isKept[at] ? Object.keys(paths).map(Number) : []));
  return { versions: new Set(versions), reasons };
}

/**
 * Returns whether leaves, at their places of the tree that a seal signs, and the roots of all other subtrees lead to the
 * root of the tree.
 */
export async function leadToRoot(
  { from, count, root }: Seal,
  { at, others }: TreeProof,
  leaves: readonly string[],
  cryptography: Cryptography,
): Promise<boolean> {
  if (root === undefined || from === undefined || at.length !== leaves.length) return false;
  let [own, other] = [0, 0];
  const reached = async (start: number, end: number): Promise<string | undefined> => {
    if (!(at[own]! < end)) return others[other++];
    if (end - start === 1) return at[own] === start ? leaves[own++] : undefined;
    let half = 1;
    while (half * 2 < end - start) half *= 2;
    const left = await reached(start, start + half);
    const right = left === undefined ? undefined : await reached(start + half, end);
    if (left === undefined || right === undefined) return undefined;
    return cryptography.sha256(JSON.stringify(['fairlead node', left, right]));
  };
  const whole = await reached(0, count - from);
  return whole === root && own === leaves.length && other === others.length;
}

/** Returns the seals of a text: one a line, as they were sent out. Undefined for a line that is no seal. */
export function keptSealsOf(text: string): readonly KeptSeal[] | undefined {
  const kept: KeptSeal[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, position, hash] = /^(\d{1,19}):([\w-]{43})$/.exec(line.trim()) ?? [];
    if (position !== undefined && hash !== undefined) kept.push({ position, hash });
    else {
      const seal = parsed(line);
      if (!isSeal(seal)) return undefined;
      kept.push(seal);
    }
  }
  return kept.length > 0 ? kept : undefined;
}

function sealsOf(given: unknown): readonly Seal[] {
  if (Array.isArray(given) && given.every(isSeal)) return given;
  throw new Failure('The seals of the export cannot be read.');
}

export function isSeal(value: unknown): value is Seal {
  const { day, position, count, hash, key_id, signature, paths } = Object(value) as Partial<Seal>;
  const isPath = (path: unknown) => Array.isArray(path) && path.every((step) => typeof step === 'string');
  return (
    [day, position, hash, key_id, signature].every((member) => typeof member === 'string') &&
    Number.isSafeInteger(count) &&
    Object.values(Object(paths) as Record<string, unknown>).every(isPath)
  );
}

function isSamePlace(seal: Seal, kept: KeptSeal): boolean {
  if (!('count' in kept)) return seal.position === kept.position;
  return kept.number === undefined ? seal.count === kept.count : seal.number === kept.number;
}

function isSame(seal: Seal, kept: KeptSeal): boolean {
  return 'count' in kept ? sealText(seal) === sealText(kept) : seal.hash === kept.hash;
}

export function nameOf(seal: KeptSeal): string {
  if (!('count' in seal)) return `the head at position ${seal.position}`;
  return seal.number === undefined ? `the seal of ${seal.day}` : `seal ${seal.number}`;
}

function sealText({ day, position, count, hash, number, previous, from, root }: Seal): string {
  if (number === undefined) return JSON.stringify(['fairlead log', day, position, count, hash]);
  const tree = root === undefined ? [] : [from, root];
  return JSON.stringify(['fairlead seal', number, previous, day, position, count, hash, ...tree]);
}

async function sealHash(seal: Seal, cryptography: Cryptography): Promise<string> {
  return cryptography.sha256(JSON.stringify([sealText(seal), seal.key_id, seal.signature]));
}

async function rootFrom(leaf: string, path: readonly string[], cryptography: Cryptography): Promise<string> {
  let reached = leaf;
  for (const step of path) {
    const beside = step.slice(1);
    const [left, right] = step.startsWith('<') ? [beside, reached] : [reached, beside];
    reached = await cryptography.sha256(JSON.stringify(['fairlead node', left, right]));
  }
  return reached;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
