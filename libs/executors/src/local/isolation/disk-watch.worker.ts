import { stat, statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { StepFailed } from '../../port/executor';
import type { AppFolder } from './app-folders.store';
import { megabytes } from './app-sizes';

interface Counted {
  readonly bytes: number;
  /** Free bytes of all that programs may write to then, and when that was (ms since 1970). */
  readonly free: number;
  readonly at: number;
  readonly first: number;
}

/** A folder whose deployment must end, and why, in words for a sentence. */
interface TooFull {
  readonly id: string;
  readonly why: string;
}

/** Free part of the disk that is left to the server and its database: as much, or a twentieth if that is less. */
const MOST_RESERVED = 1024 ** 3;
/** Interval between two counts of the files of a deployment in which a build or a command runs (ms). */
const SIZE_MS = 3000;
/** Bytes that a command may write where there is no room for files any more: many programs need a few to remove others. */
const SLACK = 16 * 1024 ** 2;
/** Counting the files of a folder is work: least and most time between two counts (ms). */
const SOONEST_MS = 5000;
const LATEST_MS = 300_000;

export interface DiskLimits {
  readonly most: number;
  readonly reserve?: number;
  readonly latest?: number;
}

/** Watches what the builds, commands and programs of deployments write, as long as they run. */
export class DiskWatch {
  private readonly counted = new Map<string, Counted>();
  private readonly full = new Set<string>();

  private readonly most: number;
  private readonly latest: number;

  constructor(
    private readonly root: string,
    private readonly limits: DiskLimits,
  ) {
    this.most = limits.most;
    this.latest = limits.latest ?? LATEST_MS;
  }

  bytes(id: string): number | undefined {
    return this.counted.get(id)?.bytes;
  }

  forget(id: string): void {
    this.counted.delete(id);
    this.full.delete(id);
  }

  /** @throws StepFailed when too little of the disk is free to build or start something */
  async requireSpace(): Promise<void> {
    const { free, reserve } = await this.space();
    if (free < reserve) throw new StepFailed(`The disk of this machine is full: ${scarce(free, reserve)}.`);
  }

  /** Aborts with the reason when a build must end, until `done` does. */
  fullOfBuild(folder: AppFolder, done: AbortSignal): AbortSignal {
    return watched(done, async () => {
      await this.requireSpace();
      const [bytes, { most }] = [await folder.bytes(), this];
      if (bytes <= most) return;
      const limit = `The files of the deployment have ${megabytes(bytes)} MB, more than its limit of ${megabytes(most)} MB`;
      throw new StepFailed(`${limit}: build less, remove files of its program, or raise LOCAL_DISK_BYTES.`);
    });
  }

  /** Aborts with the reason when a command must end, until `done` does. One that only removes files may always go on. */
  fullOfCommand(folder: AppFolder, done: AbortSignal): AbortSignal {
    const found = folder.size();
    return watched(done, async () => {
      const bytes = await folder.size();
      if (bytes <= (await found) + SLACK) return;
      if (bytes > this.most) throw new StepFailed(`The deployment ${tooMuch(bytes, this.most)}.`);
      await this.requireSpace();
    });
  }

  /** @throws StepFailed when there is no room for a program to go on writing */
  async requireRoom(id: string, folder: AppFolder): Promise<void> {
    await this.requireSpace();
    if (!this.full.has(id)) return;
    await folder.clearShortLived();
    const bytes = await folder.bytes();
    if (bytes > this.most)
      throw new StepFailed(`The program does not start again, because it ${tooMuch(bytes, this.most)}.`);
    this.forget(id);
  }

  /**
   * Answers which of the running programs must end now. Files are counted only when so much less of the disk is free
   * that a folder may be too full, and every five minutes, as files that others remove hide what is written.
   */
  async look(running: ReadonlyMap<string, AppFolder>): Promise<TooFull[]> {
    const { free: left, reserve } = await this.space();
    const free = await freeOf([this.root, '/tmp', '/var/tmp', '/dev/shm']);
    const found: TooFull[] = [];
    for (const [id, folder] of running) {
      const before = this.counted.get(id);
      const past = before === undefined ? Infinity : Date.now() - before.at;
      const written = before === undefined ? 0 : before.free - free;
      const isDue = past >= this.latest || left < reserve || (before?.bytes ?? 0) + written > this.most;
      if (past < Math.min(SOONEST_MS, this.latest) || !isDue) continue;
      const bytes = await folder.bytes();
      this.counted.set(id, { bytes, free, at: Date.now(), first: before?.first ?? bytes });
      if (bytes > this.most) found.push({ id, why: tooMuch(bytes, this.most) });
    }
    const grown = [...running.keys()].map((id) => ({ id, bytes: this.grownBy(id) })).sort((a, b) => b.bytes - a.bytes);
    // Of those that fill the disk, the one that has written most since it was counted first.
    if (left < reserve && found.length === 0 && grown[0] !== undefined && grown[0].bytes > reserve / 10) {
      found.push({ id: grown[0].id, why: `has written ${megabytes(grown[0].bytes)} MB, and ${scarce(left, reserve)}` });
    }
    for (const { id } of found) this.full.add(id);
    return found;
  }

  private grownBy(id: string): number {
    const { bytes = 0, first = 0 } = this.counted.get(id) ?? {};
    return bytes - first;
  }

  private async space(): Promise<{ readonly free: number; readonly reserve: number }> {
    const { bsize, bavail, blocks } = await statfs(this.root);
    return { free: bavail * bsize, reserve: this.limits.reserve ?? Math.min(MOST_RESERVED, (blocks * bsize) / 20) };
  }
}

/** Looks again and again, until `done` aborts; aborts with what a look throws. */
function watched(done: AbortSignal, look: () => Promise<void>): AbortSignal {
  const full = new AbortController();
  const watch = async () => {
    while (!done.aborted) {
      await delay(SIZE_MS, undefined, { signal: done, ref: false });
      await look();
    }
  };
  watch().catch((error: unknown) => {
    // Anything else means that nothing runs there any more.
    if (error instanceof StepFailed) full.abort(error);
  });
  return full.signal;
}

async function freeOf(folders: readonly string[]): Promise<number> {
  const free = new Map<number, number>();
  for (const folder of folders) {
    try {
      const [{ dev }, { bavail, bsize }] = [await stat(folder), await statfs(folder)];
      free.set(dev, bavail * bsize);
    } catch {
      // The system has no such folder.
    }
  }
  return [...free.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function tooMuch(bytes: number, most: number): string {
  return `has ${megabytes(bytes)} MB of files, more than its limit of ${megabytes(most)} MB: remove files of it, or raise LOCAL_DISK_BYTES`;
}

function scarce(free: number, reserve: number): string {
  return `${megabytes(free)} MB are free, and ${megabytes(reserve)} MB of it are for the server: remove files`;
}
