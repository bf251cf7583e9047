import type { RevisionStatus } from './rollouts';

export const TONES = ['ok', 'busy', 'bad', 'idle'] as const;
type Tone = (typeof TONES)[number];

/** State of a deployment in one sentence for people, and whether it is good. */
interface Standing {
  readonly text: string;
  /** `bad` while anything of it fails, `busy` while it changes by itself, `idle` when nothing runs on purpose. */
  readonly tone: Tone;
}

/** A revision by its place among those of the deployment, from 1. */
interface NumberedRevision {
  readonly number: number;
  readonly status: RevisionStatus;
  /** Present while its gates hold it. */
  readonly held?: true;
}

/** Facts that a sentence about a deployment is made of. */
export interface DeploymentFacts {
  readonly status: string;
  readonly status_reason?: string;
  readonly crash_looping?: boolean;
  readonly stopped?: boolean;
  /** The revision that runs; null until one has been deployed. */
  readonly live: NumberedRevision | null;
  readonly latest: NumberedRevision | null;
  /** Result of a look at the processes; undefined where nobody has looked. */
  readonly seen?: { readonly state: string; readonly detail: string };
  /** Milliseconds since the crash loop was first reported. */
  readonly loopingMs?: number;
}

/** Parts of sentences about a revision that does not run, after its name. */
const REST: Readonly<Record<RevisionStatus, string>> = {
  CREATING: ' is being created',
  QUEUED: ' waits',
  AWAITING_BUILD: ' waits to be built',
  BUILDING: ' is being built',
  AWAITING_DEPLOY: ' waits to be started',
  DEPLOYING: ' is being started',
  DEPLOYED: ' was taken back',
  CREATE_FAILED: ': creation failed',
  BUILD_FAILED: ': build failed',
  DEPLOY_FAILED: ': start failed',
  SKIPPED: ' was skipped',
  INTERRUPTED: ' was interrupted',
  UNKNOWN: ': state unknown',
};
const HELD = ' is held by its gates';
const BAD: readonly RevisionStatus[] = ['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'DEPLOYED', 'UNKNOWN'];
const OVER: readonly RevisionStatus[] = ['SKIPPED', 'INTERRUPTED'];

/** Returns the sentence about a deployment that the API, the command line and the console show. */
export function standingOf(facts: DeploymentFacts): Standing {
  const { status, live, latest, crash_looping, stopped, seen } = facts;
  if (status === 'AWAITING_DELETE') return { text: 'Being deleted', tone: 'busy' };
  const isLooping = crash_looping || seen?.state === 'CRASH_LOOPING';
  if (isLooping && live && seen?.state === 'RUNNING') {
    return { text: `v${live.number} runs again after a crash loop`, tone: 'busy' };
  }
  if (isLooping && !stopped) return { text: crashLoop(facts), tone: 'bad' };
  if (!live) return beforeFirst(facts);
  const now = running(facts, `v${live.number}`);
  if (!latest || latest.number <= live.number) return now;
  if (latest.held) return { text: `${now.text}; v${latest.number}${HELD}`, tone: now.tone };
  const tone = OVER.includes(latest.status) ? now.tone : worse(now.tone, toneOf(latest.status));
  return { text: `${now.text}; v${latest.number}${REST[latest.status]}`, tone };
}

/** Crash loops are told as `Crash looping, 16 restarts, last line: …`; here the time that they have taken is added. */
function crashLoop({ seen, status_reason, loopingMs }: DeploymentFacts): string {
  const told = seen?.state === 'CRASH_LOOPING' ? seen.detail : status_reason;
  if (!told) return 'Crash looping';
  const during = loopingMs === undefined ? '' : ` in ${lasting(loopingMs)}`;
  return told.replace(/^Crash looping, (\d+ restarts)?/, (_, restarts = '') =>
    restarts === '' ? 'Crash looping: ' : `Crash looping: ${restarts}${during}`,
  );
}

function beforeFirst({ status, status_reason, latest }: DeploymentFacts): Standing {
  if (status === 'UNKNOWN') return { text: `Cannot be reached${because(status_reason)}`, tone: 'bad' };
  if (!latest) return { text: 'Not deployed yet', tone: 'idle' };
  const { number, status: reached, held } = latest;
  if (held) return { text: `Not deployed yet; v${number}${HELD}`, tone: 'idle' };
  if (OVER.includes(reached)) return { text: `Not deployed yet; v${number}${REST[reached]}`, tone: 'idle' };
  const isFailure = reached.endsWith('_FAILED');
  const first = number === 1 && isFailure ? `First ${REST[reached].slice(2)}` : `v${number}${REST[reached]}`;
  return { text: isFailure && number > 1 ? `${first}; nothing has run yet` : first, tone: toneOf(reached) };
}

/** Says how the active revision runs, as far as that is known. */
function running({ status, status_reason, stopped, seen }: DeploymentFacts, name: string): Standing {
  if (stopped || seen?.state === 'STOPPED') return { text: `Stopped, ${name}`, tone: 'idle' };
  if (seen?.state === 'FAILED') return { text: `${name} does not run${because(seen.detail)}`, tone: 'bad' };
  if (seen?.state === 'DEGRADED') return { text: `${name} is degraded${because(seen.detail)}`, tone: 'bad' };
  if (status === 'UNKNOWN') return { text: `State of ${name} unknown${because(status_reason)}`, tone: 'bad' };
  if (seen?.state === 'STARTING') return { text: `${name} is being started`, tone: 'busy' };
  if (status === 'UNUSED') return { text: `Unused, ${name}`, tone: 'idle' };
  return { text: `Live, ${name}`, tone: 'ok' };
}

function because(reason: string | undefined): string {
  return reason ? `: ${reason}` : '';
}

function toneOf(status: RevisionStatus): Tone {
  return BAD.includes(status) ? 'bad' : 'busy';
}

function worse(one: Tone, other: Tone): Tone {
  return one === 'bad' ? one : other;
}

/** A time as `40 s`, `10 min`, `3 h` or `2 d`, never less than a second. */
function lasting(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  const [unit, name] =
    seconds < 90 ? [1, 's'] : seconds < 5400 ? [60, 'min'] : seconds < 172_800 ? [3600, 'h'] : [86_400, 'd'];
  return `${Math.round(seconds / unit)} ${name}`;
}

/** A sentence in which revisions are called by their places in `ids`: `v2` instead of `revision 0198…`. */
export function withNumbers(sentence: string, ids: Iterable<string>): string {
  const places = new Map([...ids].map((id, index) => [id, index + 1]));
  return sentence.replaceAll(/(?:revision )?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gi, (whole, id: string) => {
    const place = places.get(id.toLowerCase());
    return place === undefined ? whole : `v${place}`;
  });
}
