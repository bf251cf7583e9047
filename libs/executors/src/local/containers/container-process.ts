import { setTimeout as delay } from 'node:timers/promises';
import { megabytes } from '../isolation/app-sizes';
import { readPace, type RunningProgram, type TakeLevel } from '../isolation/app-process';
import { type EngineClient, jsonLines } from './engine.client';
import type { GroupUse } from '../isolation/process-use.client';

/** Seconds that a container has to end by itself after it was told to. */
const GRACE_S = 5;
/** Time for which its output is read after its end (ms), and most bytes of it: the engine keeps no more. */
const DRAIN_MS = 10_000;
const DRAIN_BYTES = 16 * 1024 ** 2;
const SIZE_MS = 5000;
/** Number of these looks between two at volumes, for which the engine counts the files of all its volumes. */
const VOLUMES_EVERY = 12;
/**
 * Time for which the engine may hold back the end of a container that was removed (ms): one that hangs never reports
 * it.
 */
const LOST_MS = 5000;
const HEADER_BYTES = 8;
const STANDARD_ERROR = 2;
const KILLED = 137;

interface Stats {
  readonly read: string;
  readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } };
  readonly memory_stats: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> };
}

interface Written {
  readonly SizeRw?: number;
  readonly Mounts?: readonly { readonly Type: string; readonly Name?: string }[] | null;
}

interface Volumes {
  readonly Volumes?: readonly { readonly Name: string; readonly UsageData?: { readonly Size: number } | null }[] | null;
}

export class ContainerProcess implements RunningProgram {
  readonly ended: Promise<string>;
  use: GroupUse | undefined;
  exitCode: number | null = null;
  private readonly path: string;
  private readonly over = new AbortController();

  isFull = false;
  private hasEnded = false;

  /** `most`: bytes of memory that it may use, and of files that it may write. `remove` takes it away, whether it has ended or not; it never rejects. */
  constructor(
    private readonly engine: EngineClient,
    name: string,
    private readonly most: { readonly memory: number; readonly disk: number },
    private readonly told: TakeLevel,
    private readonly remove: () => Promise<void>,
  ) {
    this.path = `/containers/${name}`;
    const read = this.read().catch(() => undefined);
    this.measure().catch(() => undefined);
    this.weigh().catch(() => undefined);
    this.ended = this.end(read);
  }

  async stop(): Promise<void> {
    await this.engine.call('POST', `${this.path}/stop?t=${GRACE_S}`).catch(() => undefined);
    await this.remove();
    const late = setTimeout(() => this.over.abort(), LOST_MS);
    await this.ended;
    clearTimeout(late);
  }

  private async end(read: Promise<void>): Promise<string> {
    const how = await this.wait().catch((error: Error) => `was lost: ${error.message}`);
    this.hasEnded = true;
    const late = delay(DRAIN_MS, undefined, { ref: false, signal: this.over.signal });
    await Promise.race([
      read,
      late.then(
        () => this.tellCut(),
        () => undefined,
      ),
    ]);
    this.over.abort();
    await this.remove();
    return how;
  }

  private async wait(): Promise<string> {
    const { signal } = this.over;
    const { StatusCode } = (await this.engine.call('POST', `${this.path}/wait`, { signal })) as { StatusCode: number };
    if (!this.isFull) this.exitCode = StatusCode;
    const found = (await this.engine.call('GET', `${this.path}/json`).catch(() => undefined)) as
      | { State?: { OOMKilled?: boolean } }
      | undefined;
    if (this.isFull) return `wrote more files than its limit of ${megabytes(this.most.disk)} MB`;
    const limit = `more memory than its limit of ${megabytes(this.most.memory)} MB`;
    if (found?.State?.OOMKilled) return `used ${limit}`;
    // Podman does not always notice why.
    const was = StatusCode === KILLED ? `: it was killed, as one is that uses ${limit}` : '';
    return `ended with exit code ${StatusCode}${was}`;
  }

  /** Tells what it writes, at a limited rate. Each part begins with the number of its origin and its length. */
  private async read(): Promise<void> {
    const { signal } = this.over;
    const stream = await this.engine.open('GET', `${this.path}/logs?follow=1&stdout=1&stderr=1`, { signal });
    const decoders = { INFO: new TextDecoder(), WARNING: new TextDecoder() };
    const pauseAfter = readPace();
    let rest = Buffer.alloc(0);
    let left = DRAIN_BYTES;
    for await (const part of stream as AsyncIterable<Buffer>) {
      rest = Buffer.concat([rest, part]);
      while (rest.length >= HEADER_BYTES && rest.length >= HEADER_BYTES + rest.readUInt32BE(4)) {
        const end = HEADER_BYTES + rest.readUInt32BE(4);
        const level = rest[0] === STANDARD_ERROR ? 'WARNING' : 'INFO';
        await this.told(level, decoders[level].decode(rest.subarray(HEADER_BYTES, end), { stream: true }));
        rest = rest.subarray(end);
      }
      if (this.hasEnded) left -= part.length;
      if (left < 0) return this.tellCut();
      const pause = this.hasEnded ? 0 : pauseAfter(part.length);
      if (pause > 0) await delay(pause, undefined, { signal, ref: false });
    }
  }

  private tellCut(): void {
    void this.told('WARNING', 'What the program wrote after this, at its end, was not read.\n');
  }

  /** Ends it when the files that it has written are too large: they would fill the disk of this machine. */
  private async weigh(): Promise<void> {
    const { signal } = this.over;
    let inVolumes = 0;
    for (let looks = 0; ;) {
      await delay(SIZE_MS, undefined, { signal, ref: false });
      try {
        const found = (await this.engine.call('GET', `${this.path}/json?size=1`)) as Written;
        const before = inVolumes;
        if (looks++ % VOLUMES_EVERY === 0) inVolumes = await this.sizeOfVolumes(found).catch(() => before);
        if ((found.SizeRw ?? 0) + inVolumes <= this.most.disk) continue;
        this.isFull = true;
        await this.engine.call('POST', `${this.path}/kill`);
        return;
      } catch {
        // The engine may answer at the next look.
      }
    }
  }

  /** Returns bytes in the volumes that its image declares, which go with it; 0 where the engine does not tell. */
  private async sizeOfVolumes({ Mounts }: Written): Promise<number> {
    const own = new Set(
      (Mounts ?? []).flatMap(({ Type, Name }) => (Type === 'volume' && Name !== undefined ? Name : [])),
    );
    if (own.size === 0) return 0;
    const { Volumes } = (await this.engine.call('GET', '/system/df?type=volume')) as Volumes;
    const sizes = (Volumes ?? []).map(({ Name, UsageData }) => (own.has(Name) ? Math.max(0, UsageData?.Size ?? 0) : 0));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  private async measure(): Promise<void> {
    const { signal } = this.over;
    let before: Stats | undefined;
    for await (const found of jsonLines(await this.engine.open('GET', `${this.path}/stats?stream=1`, { signal }))) {
      const now = found as Stats;
      const nanoseconds = (stats: Stats) => stats.cpu_stats.cpu_usage.total_usage;
      const passed = before && Date.parse(now.read) - Date.parse(before.read);
      const cpu_cores = passed ? Math.max(0, (nanoseconds(now) - nanoseconds(before!)) / 1e6 / passed) : null;
      const { usage = 0, stats } = now.memory_stats;
      // Files that were read can be dropped from memory at any time.
      const files = stats?.inactive_file ?? stats?.total_inactive_file ?? 0;
      this.use = { memory_bytes: Math.max(0, usage - files), cpu_cores };
      before = now;
    }
  }
}
