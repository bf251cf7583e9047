import {
  ChainCheck,
  type EventStore,
  hashLog,
  grown,
  headText,
  isOfSeals,
  isSignedBy,
  leafOf,
  type LogHash,
  type LogSeal,
  type LogSigner,
  NOTHING,
  type PublicKey,
  readSeals,
  type Recorded,
  rootOf,
  type SealTree,
  StreamDeleted,
  sealHash,
  sealText,
} from '@fairlead/eventing';
import type { Pool } from 'pg';
import type { ExpectedHead, Trust } from './trust';

/** Something about the log that is not as it was written. */
interface Finding {
  readonly where: string;
  readonly reason: string;
}

export interface LogReport {
  readonly events: number;
  readonly streams: number;
  readonly seals: number;
  /** Events after the newest seal: the hashes of their streams cover them, and how far the service has hashed. */
  readonly unsealed: number;
  /** The log as it is now, to be kept outside for the next audit. */
  readonly head: LogHash;
  /** Place in the log up to which heads from outside of the database prove it. */
  readonly proven: LogHash;
  readonly findings: readonly Finding[];
  /** Parts that could not be checked, a sentence each. */
  readonly unchecked: readonly string[];
}

interface Hashed extends LogHash {
  readonly key_id: string | null;
  readonly signature: string | null;
}

const OVERDUE = 2;

/**
 * Reads the whole log once: holds every stream against its hashes, the log against its seals, against how far the service
 * has hashed it, and against the heads that the operator has kept.
 */
export async function checkLog(
  store: EventStore,
  pool: Pool,
  signer: LogSigner,
  trust: Trust,
  progress: (position: bigint, until: bigint, events: number) => void,
  signal?: AbortSignal,
): Promise<LogReport> {
  // What claims something about the log is read before the log, which only grows.
  const { rows } = await pool.query<Hashed>(
    'select "position", count::int as count, hash, key_id, signature from log_hashes',
  );
  const hashed = rows[0];
  // Without the streams of the seals or of the keys the rest is checked: their deletion is a finding below.
  const { seals } = await readSeals(store);
  const known = await signer.publicKeys().catch(noneWhenDeleted);
  const until = await store.head();
  const isDense = store.stride === 1n;
  const keys = trust.keys ?? known;
  const findings: Finding[] = [...checkKeys(known, trust.keys), ...checkOrder(seals)];
  const unchecked: string[] = [];
  const sealsAt = grouped(seals, (seal) => placeOf(seal, isDense));
  const headsAt = grouped(trust.heads ?? [], (head) => placeOf(head, isDense));
  const chains = new Map<string, ChainCheck>();
  // Where the tree of a seal begins, and how many events there are at the last seal of a tree that begins there.
  const begins = new Map(seals.flatMap(({ from, count }) => (from === undefined ? [] : [[from, count] as const])));
  const trees = new Map<number, SealTree>();
  let reached: LogHash = NOTHING;
  let proven = NOTHING;
  let sealed: LogHash = NOTHING;
  let firstUnsealed: string | undefined;
  let before = 0n;

  const visit = (event: Recorded) => {
    if (isDense && event.position !== before + 1n) {
      findings.push({ where: `the log, position ${before + 1n}`, reason: 'the event is missing' });
    }
    before = event.position;
    checkOf(chains, event.stream).add(event);
    if (begins.has(reached.count)) trees.set(reached.count, { from: reached.count, peaks: [] });
    const leaf = leafOf(event);
    for (const [from, tree] of trees) trees.set(from, grown(tree, reached.count, leaf));
    reached = hashLog([event], reached);
    if (!isOfSeals(event.stream)) firstUnsealed ??= event.time;
    const places = [`position ${reached.position}`, `count ${reached.count}`];
    for (const head of places.flatMap((place) => take(headsAt, place))) {
      if (head.hash === reached.hash) proven = reached;
      else {
        const reason = 'what lies before it is not what it was when the head was kept';
        findings.push({ where: `the head at position ${reached.position}`, reason });
      }
    }
    for (const seal of places.flatMap((place) => take(sealsAt, place))) {
      const wrong = checkSeal(seal, reached, sealed, keys) ?? checkTree(seal, trees.get(seal.from ?? -1));
      if (wrong) findings.push(wrong);
      sealed = { ...reached };
      for (const from of trees.keys()) if ((begins.get(from) ?? 0) <= reached.count) trees.delete(from);
      firstUnsealed = undefined;
      // What follows is held against what was sealed, so that one change is one finding.
      if (isTrusted(seal, keys)) reached = { position: reached.position, count: reached.count, hash: seal.hash };
    }
    if (hashed && hashed.count === reached.count) findings.push(...checkHashed(hashed, reached, keys));
  };

  const ending = new AbortController();
  if (until > 0n) {
    for await (const batch of store.subscribe(0n, AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]))) {
      for (const event of batch.events) if (event.position <= until) visit(event);
      progress(batch.position < until ? batch.position : until, until, reached.count);
      if (batch.position >= until) break;
    }
  }
  ending.abort();
  signal?.throwIfAborted();

  for (const { position, day } of [...sealsAt.values()].flat()) {
    const reason = `the event at position ${position}, which was sealed, is missing`;
    findings.push({ where: `the log of ${day}`, reason });
  }
  for (const { position, count } of [...headsAt.values()].flat()) {
    const place = position === undefined ? `event ${count}` : `position ${position}`;
    const reason = `the head that was kept is at ${place}, where there is no event: the log was cut`;
    findings.push({ where: `the log, which ends at position ${reached.position}`, reason });
  }
  if (hashed && hashed.count > reached.count) {
    const reason = `it has ${reached.count} events, and ${hashed.count} had been hashed: the log was cut`;
    findings.push({ where: 'the log', reason });
  }
  for (const stream of await store.deletedStreams()) {
    findings.push({ where: stream, reason: 'it was deleted, or its oldest events were cut off, in the event store' });
  }
  for (const [stream, check] of chains) {
    for (const { after, until, reason } of check.report().broken) {
      findings.push({ where: `${stream}, versions ${after + 1} to ${Math.max(until, after + 1)}`, reason });
    }
  }

  if (!trust.keys) {
    unchecked.push(
      'No keys were given (--keys): signatures are checked against keys from the database itself, which whoever can write to it can replace.',
    );
  }
  if (!trust.heads) {
    unchecked.push(
      'No head was given (--head): that the end of the log was cut off, or that it was hashed and sealed again by the service, cannot be told.',
    );
  }
  if (!hashed?.signature && reached.count > 0) {
    unchecked.push('The service has not signed how far it has hashed the log: what is not sealed yet may be changed.');
  }
  const age = firstUnsealed === undefined ? 0 : Date.now() - Date.parse(firstUnsealed);
  if (age > OVERDUE * trust.sealEveryMs) {
    unchecked.push(
      `The oldest event that is not sealed is of ${firstUnsealed}, although seals are due every ${trust.sealEveryMs / 1000} seconds: seals were removed, or the service does not run.`,
    );
  }
  const unsealed = reached.count - sealed.count;
  return {
    events: reached.count,
    streams: chains.size,
    seals: seals.length,
    unsealed,
    head: reached,
    proven,
    findings,
    unchecked,
  };
}

function noneWhenDeleted(error: unknown): never[] {
  if (error instanceof StreamDeleted) return [];
  throw error;
}

/** A key that is in the log and not among those that were given may have been planted. */
function checkKeys(known: readonly PublicKey[], given: readonly PublicKey[] | undefined): Finding[] {
  const planted = known.filter(({ kid, x }) => given && !given.some((key) => key.kid === kid && key.x === x));
  return planted.map(({ kid }) => ({
    where: 'the keys of the log',
    reason: `the log holds the key ${kid}, which is not among the keys given`,
  }));
}

/** Each seal names its number and the seal before it; those of earlier versions do not. */
function checkOrder(seals: readonly LogSeal[]): Finding[] {
  return seals.flatMap((seal, index) => {
    const before = seals[index - 1];
    const where = `seal ${seal.number ?? index + 1} of ${seal.day}`;
    if (seal.number !== undefined && seal.number !== index + 1) {
      return [{ where, reason: `${index} seals are before it, and there were ${seal.number - 1}: seals were removed` }];
    }
    if (seal.previous !== undefined && seal.previous !== (before ? sealHash(before) : '')) {
      return [{ where, reason: 'the seal before it is not the one that it names' }];
    }
    if (before && seal.count <= before.count) return [{ where, reason: 'it does not come after the seal before it' }];
    return [];
  });
}

function checkSeal(seal: LogSeal, reached: LogHash, after: LogHash, keys: readonly PublicKey[]): Finding | undefined {
  const where = `the log of ${seal.day}`;
  if (!keys.some(({ kid }) => kid === seal.key_id)) {
    return { where, reason: `its seal is signed with the key ${seal.key_id}, which is not among the keys` };
  }
  if (!isTrusted(seal, keys)) return { where, reason: 'the signature of its seal is wrong' };
  if (seal.hash === reached.hash && seal.count === reached.count) return undefined;
  const reason = `what lies after position ${after.position} up to ${seal.position} is not what was sealed: ${seal.count} events then, ${reached.count} now`;
  return { where, reason };
}

/** Exports show by the tree of a seal that an event is among those that were sealed. */
function checkTree({ day, root }: LogSeal, tree: SealTree | undefined): Finding | undefined {
  if (root === undefined || (tree && rootOf(tree) === root)) return undefined;
  return { where: `the log of ${day}`, reason: 'the tree of its seal is not that of the events before it' };
}

function checkHashed(hashed: Hashed, reached: LogHash, keys: readonly PublicKey[]): Finding[] {
  const where = 'what is not sealed yet';
  if (hashed.hash !== reached.hash) {
    return [{ where, reason: `up to position ${reached.position} it is not what the service hashed when it came` }];
  }
  const { key_id, signature } = hashed;
  // Earlier versions signed nothing between two seals.
  if (key_id === null || signature === null) return [];
  if (isSignedBy(keys, headText(hashed), { key_id, signature })) return [];
  return [{ where, reason: 'the signature over how far the log was hashed is not of one of the keys' }];
}

function isTrusted(seal: LogSeal, keys: readonly PublicKey[]): boolean {
  return isSignedBy(keys, sealText(seal), seal);
}

/** Positions change when a log moves to another store, counts do not. */
function placeOf({ position, count }: ExpectedHead, isDense: boolean): string {
  return position !== undefined && (isDense || count === undefined) ? `position ${position}` : `count ${count}`;
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function take<T>(groups: Map<string, T[]>, key: string): T[] {
  const found = groups.get(key) ?? [];
  groups.delete(key);
  return found;
}

function checkOf(chains: Map<string, ChainCheck>, stream: string): ChainCheck {
  let check = chains.get(stream);
  if (!check) chains.set(stream, (check = new ChainCheck()));
  return check;
}
