import { crashLoops, crashLoopText } from '../../port/crash-loop';
import type { ProcessHealth } from '../../port/process-health.schema';
import type { AppReplica, ReplicaRecord } from './app-replica';
import type { Runnable, Serving } from './serving';
import { waitingFor } from './wanted-port';

type AppStatus = 'READY' | 'UNKNOWN' | 'UNUSED';

/** Takes the status of a program, why it has that, and whether that is a crash loop. */
export type TellStatus = (status: AppStatus, reason?: string, isCrashLooping?: boolean) => void;

interface Processes {
  readonly replicas: readonly AppReplica[];
  readonly scale: number | undefined;
  readonly awaited: Runnable | undefined;
  readonly isStarting: boolean;
  readonly isStopped: boolean;
  readonly spare?: readonly AppReplica[];
}

/** State of the program of one deployment: its crash loop, the status that was reported last, and records of its processes. */
export class RunnerState {
  private readonly records: ReplicaRecord[] = [];
  /** Last reported status, and whether that was a crash loop or the end of all attempts. */
  private told: { readonly status: AppStatus; readonly kind?: 'loop' | 'over' } | undefined;
  /** Failures in a row of the crash loop that is not over yet, also while the program sleeps; undefined without one. */
  private loop: number | undefined;

  constructor(private readonly tell: TellStatus) {}

  get restarts(): number {
    return this.records.reduce((sum, { restarts }) => sum + restarts, 0);
  }

  get lastError(): string | null {
    return this.records.find(({ lastError }) => lastError !== null)?.lastError ?? null;
  }

  record(index: number): ReplicaRecord {
    return (this.records[index] ??= { restarts: 0, lastError: null, lastLine: '' });
  }

  endLoop(): void {
    this.loop = undefined;
  }

  processes({ replicas, scale, awaited, isStarting, isStopped, spare = [] }: Processes): ProcessHealth[] {
    const count = isStopped ? replicas.length : Math.max(replicas.length, scale ?? 0, isStarting ? 1 : 0);
    const serving = Array.from({ length: count }, (_, index) => {
      const name = (scale ?? 1) > 1 || index > 0 ? `program-${index + 1}` : 'program';
      return { name, ...this.healthOf(replicas[index], index, isStarting, awaited) };
    });
    return [...serving, ...spare.map(({ running }, index) => ({ name: `replaced-${index + 1}`, ...spareOf(running) }))];
  }

  note(replicas: readonly AppReplica[]): void {
    if (replicas.length > 0) {
      const states = replicas.map((replica, index) => this.healthOf(replica, index, false).state);
      const failures = Math.max(this.loop ?? 0, ...replicas.map((replica) => replica.failures));
      const hasRecovered = replicas.some(({ running, hasRecovered: long }) => running !== undefined && long);
      this.loop = crashLoops(this.loop !== undefined, states, hasRecovered) ? failures : undefined;
      if (replicas.every(({ isOver }) => isOver)) this.say('UNKNOWN', this.lastError ?? undefined, 'over');
    }
    if (this.loop !== undefined) this.say('UNKNOWN', crashing(this.loop, worst(replicas) ?? this.record(0)), 'loop');
    else if (replicas.some(({ running }) => running?.trouble === null)) this.say('READY');
  }

  tellAsleep(): void {
    if (this.told?.status !== 'UNKNOWN') this.say('UNUSED', 'Nobody uses it: it sleeps until the next request.');
  }

  /** Tells a status that is another one than before, and a crash loop or the end of all attempts beside the same status. */
  say(status: AppStatus, reason?: string, kind?: 'loop' | 'over'): void {
    if (this.told?.status === status && (kind === undefined || this.told.kind === kind)) return;
    this.told = { status, kind };
    this.tell(status, reason, kind === 'loop');
  }

  private healthOf(replica: AppReplica | undefined, index: number, isStarting: boolean, awaited?: Runnable) {
    const record = this.record(index);
    const { restarts, lastError: last_error } = record;
    const running = replica?.running;
    const seen = { restarts, ...seenOf(running), last_error };
    if (replica?.isOver) return { ...seen, state: 'FAILED' as const, reason: last_error };
    // A process that was woken begins anew, and the crash loop goes on until it has run for a while.
    if (replica && (replica.isCrashing || (this.loop !== undefined && !(running && replica.isSteady)))) {
      const failures = Math.max(replica.failures, this.loop ?? 0);
      return { ...seen, state: 'CRASH_LOOPING' as const, reason: crashing(failures, record) };
    }
    if (running?.trouble) return { ...seen, state: 'UNRESPONSIVE' as const, reason: running.trouble };
    if (running) return { ...seen, state: 'RUNNING' as const, reason: null };
    const noRoom = !replica && !isStarting && 'There is no room for it now.';
    return {
      ...seen,
      state: 'STARTING' as const,
      reason: noRoom || (last_error ?? waitingFor({ health: awaited?.revision.recipe.health })),
    };
  }
}

function worst(replicas: readonly AppReplica[]): ReplicaRecord | undefined {
  const [first] = [...replicas].sort((one, other) => other.failures - one.failures);
  return first?.record;
}

function crashing(failures: number, { lastError, lastLine }: ReplicaRecord): string {
  return crashLoopText(failures, lastLine === '' ? (lastError ?? 'It wrote nothing.') : `last line: ${lastLine}`);
}

function spareOf(running: Serving | undefined) {
  const reason = 'It was replaced, and stays for a while to take its place back if its successor ends.';
  return { ...seenOf(running), state: 'STOPPING' as const, reason, restarts: 0, last_error: null };
}

function seenOf(running: Serving | undefined) {
  const { memory_bytes = null, cpu_cores = null } = running?.process.use ?? {};
  const started_at = running ? new Date(running.since).toISOString() : null;
  return { revision_id: running?.revision.revisionId ?? null, started_at, memory_bytes, cpu_cores };
}
