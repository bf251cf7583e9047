import {
  ChainCheck,
  type EventStore,
  hashLog,
  type LogHash,
  type LogSeal,
  type LogSigner,
  NOTHING,
  PostgresEventStore,
  type Recorded,
  SEALS,
  sealText,
} from '@fairlead/eventing';

/** Something about the log that is not as it was written. */
export interface Finding {
  readonly where: string;
  readonly reason: string;
}

export interface LogReport {
  readonly events: number;
  readonly streams: number;
  readonly seals: number;
  /** Positions after the newest seal: nothing but the streams' own hashes covers them yet. */
  readonly unsealed: number;
  readonly findings: readonly Finding[];
}

/** Reads the whole log once: holds every stream against its hashes, and the log against its seals. */
export async function checkLog(
  store: EventStore,
  signer: LogSigner,
  progress: (position: bigint, until: bigint, events: number) => void,
  signal?: AbortSignal,
): Promise<LogReport> {
  const until = await store.head();
  const findings: Finding[] = [];
  const chains = new Map<string, ChainCheck>();
  const seals = ((await store.read(SEALS)) as Recorded<{ type: 'LogSealed'; data: LogSeal }>[]).map(({ data }) => data);
  const waiting = [...seals].sort((a, b) => Number(BigInt(a.position) - BigInt(b.position)));
  let reached: LogHash = NOTHING;
  let sealedUntil = NOTHING.position;
  const isDense = store instanceof PostgresEventStore;
  // Positions change when a log moves to another store.
  const isAt = (seal: LogSeal, { position, count }: LogHash) =>
    isDense ? seal.position === position : seal.count === count;
  let before = 0n;
  const ending = new AbortController();
  if (until > 0n) {
    for await (const batch of store.subscribe(0n, ending.signal)) {
      for (const event of batch.events) {
        if (event.position > until) break;
        if (isDense && event.position !== before + 1n) {
          findings.push({ where: `the log, position ${before + 1n}`, reason: 'the event is missing' });
        }
        before = event.position;
        checkOf(chains, event.stream).add(event);
        reached = hashLog([event], reached);
        while (waiting[0] && isAt(waiting[0], reached)) {
          const seal = waiting.shift()!;
          findings.push(...(await checkSeal(seal, reached, sealedUntil, signer)));
          sealedUntil = seal.position;
          // What follows is held against what was sealed, so that one change is one finding.
          reached = { position: seal.position, count: seal.count, hash: seal.hash };
        }
      }
      progress(batch.position < until ? batch.position : until, until, reached.count);
      if (batch.position >= until) break;
      signal?.throwIfAborted();
    }
  }
  ending.abort();
  for (const { position, day } of waiting) {
    findings.push({
      where: `the log of ${day}`,
      reason: `the event at position ${position}, which was sealed, is missing`,
    });
  }
  for (const stream of await store.deletedStreams()) {
    findings.push({ where: stream, reason: 'it was deleted, or its oldest events were cut off, in the event store' });
  }
  for (const [stream, check] of chains) {
    for (const { after, until, reason } of check.report().broken) {
      findings.push({ where: `${stream}, versions ${after + 1} to ${Math.max(until, after + 1)}`, reason });
    }
  }
  const unsealed = reached.count - (seals.at(-1)?.count ?? 0);
  return { events: reached.count, streams: chains.size, seals: seals.length, unsealed, findings };
}

async function checkSeal(seal: LogSeal, reached: LogHash, after: string, signer: LogSigner): Promise<Finding[]> {
  const where = `the log of ${seal.day}`;
  if (!(await signer.verify(sealText(seal), seal))) return [{ where, reason: 'the signature of its seal is wrong' }];
  if (seal.hash === reached.hash && seal.count === reached.count) return [];
  const reason = `what lies after position ${after} up to ${seal.position} is not what was sealed: ${seal.count} events then, ${reached.count} now`;
  return [{ where, reason }];
}

function checkOf(chains: Map<string, ChainCheck>, stream: string): ChainCheck {
  let check = chains.get(stream);
  if (!check) chains.set(stream, (check = new ChainCheck()));
  return check;
}
