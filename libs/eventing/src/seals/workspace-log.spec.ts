import { hash as hashOf } from 'node:crypto';
import fc from 'fast-check';
import {
  chain,
  grown,
  leafOf,
  type LogSeal,
  type Recorded,
  rootOf,
  type SealTree,
  type WorkspacePart,
  workspaceLog,
} from '..';
import { MemoryEventStore } from '../testing';
import type { TreeProof } from './tree-proof';

const OWN = 'workspace-a';
const WORKSPACES = [OWN, 'workspace-b', undefined];

/** One event of the log by its workspace and stream; afterwards a seal, whose tree may begin before the one before. */
const step = fc.record({
  workspace: fc.integer({ min: 0, max: 2 }),
  stream: fc.integer({ min: 0, max: 3 }),
  seal: fc.constantFrom('none', 'none', 'none', 'seal', 'overlapping', 'without a tree'),
});

/** A log that was written step by step, and its seals. */
async function written(steps: readonly { workspace: number; stream: number; seal: string }[]) {
  const store = new MemoryEventStore();
  const events: Recorded[] = [];
  const seals: LogSeal[] = [];
  let sealedUpTo = [0, 0];
  for (const { workspace, stream, seal } of steps) {
    const tenant = WORKSPACES[workspace];
    await store.append(`thing-${stream}`, 'any', [{ type: 'ThingCreated', data: {} }], tenant ? { tenant } : {});
    events.push((await store.at(BigInt(events.length + 1)))!);
    if (seal === 'none') continue;
    const from = sealedUpTo[seal === 'overlapping' ? 0 : 1]!;
    const tree = events
      .slice(from)
      .reduce<SealTree>((at, event, n) => grown(at, from + n, leafOf(event)), { from, peaks: [] });
    const place = { position: String(events.length), count: events.length, number: seals.length + 1 };
    const about = { ...place, day: events[0]!.time.slice(0, 10), hash: '', key_id: '', signature: '' };
    seals.push(seal === 'without a tree' ? about : { ...about, from, root: rootOf(tree) });
    sealedUpTo = [from, events.length];
  }
  return { store, events, seals };
}

/** The root to which own leaves and the roots of the other subtrees lead, as docs/guides/audit.md describes it. */
function rootFrom(size: number, { at, others }: TreeProof, leaves: readonly string[]): string {
  const [own, rest] = [[...leaves], [...others]];
  const walk = (start: number, end: number): string => {
    if (!at.some((place) => place >= start && place < end)) return rest.shift()!;
    if (end - start === 1) return own.shift()!;
    let half = 1;
    while (half * 2 < end - start) half *= 2;
    const text = JSON.stringify(['fairlead node', walk(start, start + half), walk(start + half, end)]);
    return hashOf('sha256', text, 'base64url');
  };
  const root = walk(0, size);
  expect([own, rest]).toEqual([[], []]);
  return root;
}

async function partsOf({ store, events, seals }: Awaited<ReturnType<typeof written>>): Promise<WorkspacePart[]> {
  const parts: WorkspacePart[] = [];
  for await (const part of workspaceLog(store, OWN, seals, BigInt(events.length))) parts.push(part);
  return parts;
}

it('has every event of the workspace in order, and no event of another one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const log = await written(steps);
      const found = (await partsOf(log)).flatMap((part) => ('event' in part ? [part] : []));
      expect(found.map(({ event }) => event.position)).toEqual(
        log.events.filter(({ metadata }) => metadata.tenant === OWN).map(({ position }) => position),
      );
      const first = found.filter(({ isFirstOfStream }) => isFirstOfStream).map(({ event }) => event.stream);
      expect(first).toEqual([...new Set(found.map(({ event }) => event.stream))]);
    }),
  );
});

it('has the hash of the events of others before one of the workspace in the same stream', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const log = await written(steps);
      const reached = new Map<string, number>();
      for (const part of await partsOf(log)) {
        if ('seal' in part) continue;
        const { stream, version } = 'event' in part ? part.event : part.foreign;
        if ('event' in part) expect(version).toBe((reached.get(stream) ?? 0) + 1);
        else expect(part.foreign.hash).toBe(chain((await log.store.read(stream)).slice(0, version)));
        reached.set(stream, version);
      }
    }),
  );
});

it('proves by each seal with a tree that the events before it are under its root', async () => {
  let proofs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const log = await written(steps);
      const firstOwn = log.events.findIndex(({ metadata }) => metadata.tenant === OWN) + 1;
      let since: Recorded[] = [];
      const numbers: (number | undefined)[] = [];
      for (const part of await partsOf(log)) {
        if ('event' in part) since.push(part.event);
        if (!('seal' in part)) continue;
        const { root, from, count, number, proof } = part.seal;
        numbers.push(number);
        const covered = since.filter(({ position }) => from !== undefined && position > from);
        expect(proof !== undefined).toBe(root !== undefined && covered.length > 0);
        if (proof) expect(rootFrom(count - from!, proof, covered.map(leafOf))).toBe(root);
        if (proof) proofs += 1;
        since = [];
      }
      const wanted = log.seals.filter(({ count }) => firstOwn > 0 && count >= firstOwn).map(({ number }) => number);
      expect(numbers.slice(numbers.length - wanted.length)).toEqual(wanted);
    }),
  );
  expect(proofs).toBeGreaterThan(50);
});

it('proves nothing by a seal whose events are not all there, and invents no events of others', async () => {
  const log = await written([
    { workspace: 0, stream: 0, seal: 'none' },
    { workspace: 0, stream: 0, seal: 'none' },
    { workspace: 0, stream: 0, seal: 'seal' },
  ]);
  // Somebody removed an event from the database.
  const store = new (class extends MemoryEventStore {
    override read = async (stream: string, after?: number) =>
      (await log.store.read(stream, after)).filter(({ version }) => version !== 2);
    override async *subscribe(position: bigint, signal: AbortSignal) {
      for await (const batch of log.store.subscribe(position, signal)) {
        yield { ...batch, events: batch.events.filter(({ version }) => version !== 2) };
      }
    }
  })();
  const parts = await partsOf({ ...log, store });
  expect(parts.map((part) => Object.keys(part)[0])).toEqual(['event', 'event', 'seal']);
  expect(parts.at(-1)).not.toHaveProperty('seal.proof');
});
