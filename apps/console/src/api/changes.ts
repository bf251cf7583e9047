import { UNATTENDED } from './attended';
import { answered, api, ApiError, type Schemas } from './client';
import { withTimeLimit } from './time-limit';

const WAIT_S = 25;
/** Changes that follow each other within so long are told together. */
const GATHER_MS = 1000;
/** A page of its own asks so often where browsers do not let pages agree on one that asks, which is over plain http. */
const LOOK_MS = 10_000;
const RETRY_MS = 2000;
const AWAY_MS = 30_000;
/** An answer that takes so much longer than it may wait does not come any more: the connection is gone. */
const LATE_MS = 15_000;
/** A page does not wait longer than this for the place where it begins to listen. */
const BEGIN_MS = 3000;

/** Message between the pages of a browser. */
interface News {
  /** Up to which place in the log this is all. */
  readonly position?: string;
  /** Names of stale queries, in the words of `concerned`. */
  readonly stale: readonly string[];
  /** Since when the service cannot be reached, in milliseconds since 1970. */
  readonly lost?: number;
  /** Nobody is signed in any more. */
  readonly ended?: boolean;
}

/** Up to which place in the log this page has heard of all changes. */
let position: string | undefined;

/** Notes where the log ends. A page does so before it asks for what it shows, and so misses no change of that. */
export async function beginToListen(): Promise<void> {
  if (position !== undefined) return;
  // Without an answer the page listens later, and then takes all that it shows for stale.
  const begun = withTimeLimit(BEGIN_MS, [], (signal) => newsAfter(undefined, 0, signal));
  const news = await begun.catch(() => undefined);
  position ??= news?.position;
}

/**
 * Hears of the changes in a workspace until the signal aborts. One page of the browser waits for them and tells the
 * others, because a browser has few connections for all pages of a server; when it closes or is hidden, another one
 * goes on. Hidden pages do not wait, because browsers stop them: they hear of what they missed when they are shown.
 */
export function follow(workspace: string, hear: (news: News) => void, signal: AbortSignal): void {
  const name = `fairlead.changes.${workspace}`;
  const channel = new BroadcastChannel(name);
  const take = (news: News) => {
    position = news.position ?? position;
    hear(news);
  };
  const tell = (news: News) => {
    if (signal.aborted) return;
    channel.postMessage(news);
    take(news);
  };
  const ask = async (wait: number, rest: number, until: AbortSignal) => {
    let failing: number | undefined;
    while (!until.aborted) {
      try {
        const news = await newsAfter(position, wait, until);
        tell(failing === undefined ? news : { ...news, stale: [ALL] });
        failing = undefined;
        await pause(rest, until);
      } catch (error) {
        if (until.aborted) return;
        failing ??= Date.now();
        const ended = error instanceof ApiError && error.status === 401;
        if (ended || Date.now() - failing >= AWAY_MS) tell({ stale: [], lost: failing, ended });
        await pause(RETRY_MS, until);
      }
    }
  };
  channel.onmessage = ({ data }: MessageEvent<News>) => take(data);
  // Browsers have no locks on pages that are not secure.
  const locks = navigator.locks as LockManager | undefined;
  let turn = new AbortController();
  const takeTurn = () => {
    turn.abort();
    if (document.visibilityState === 'hidden') return;
    turn = new AbortController();
    const until = AbortSignal.any([signal, turn.signal]);
    if (!locks) void ask(0, LOOK_MS, until);
    else locks.request(name, { signal: until }, () => ask(WAIT_S, GATHER_MS, until)).catch(() => undefined);
  };
  document.addEventListener('visibilitychange', takeTurn, { signal });
  signal.addEventListener('abort', () => channel.close());
  // The page that waits may have told of changes before this one could hear it.
  void newsAfter(position, 0, signal)
    .then(take, () => undefined)
    .then(() => {
      if (!signal.aborted) takeTurn();
    });
}

/**
 * Changes after a place in the log; without one, every query counts as changed, and the answer has the end of the log.
 */
async function newsAfter(after: string | undefined, wait: number, signal: AbortSignal): Promise<News> {
  const query = after === undefined ? { wait: 0 } : { after, wait };
  const { changes, reset, ...news } = (await withTimeLimit(wait * 1000 + LATE_MS, [signal], (late) =>
    answered(api.GET('/v1/changes', { params: { query }, headers: UNATTENDED, signal: late })),
  )) as Schemas['Changes'];
  return { ...news, stale: reset || after === undefined ? [ALL] : concerned(changes) };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}

/** Stands for all that pages show. */
const ALL = '*';
const DATASETS = ['datasets', 'dataset', 'examples', 'experiments'];
const EXPERIMENTS = ['experiments', 'datasets', 'dataset', 'comparison', 'row', 'project', 'run', 'trend', 'scores'];
/** The first members of the keys of the queries that a kind of change concerns. */
const CONCERNED: Readonly<Record<string, readonly string[]>> = {
  deployment: ['deployments'],
  revision: ['deployments'],
  dataset: DATASETS,
  experiment: EXPERIMENTS,
  session: EXPERIMENTS,
  feedback: EXPERIMENTS,
  monitor: ['monitors'],
  integration: ['integrations'],
  oauth_provider: ['providers'],
};

/** Names the queries that changes concern: by the first member of their keys, those of one deployment with its id. */
export function concerned(changes: readonly { readonly type: string; readonly data: unknown }[]): string[] {
  const names = changes.flatMap(({ type, data }) => {
    const { deployment_id: deployment } = data as { deployment_id?: string };
    const kind = type.slice(0, type.indexOf('.'));
    return [...(CONCERNED[kind] ?? []), ...(deployment === undefined ? [] : [`deployment ${deployment}`])];
  });
  return [...new Set(names)];
}

/** True when a query is among those that are named stale; its key begins with its name, the workspace, and an id. */
export function isStale(names: ReadonlySet<string>, [name, , id]: readonly unknown[]): boolean {
  if (names.has(ALL)) return name !== 'session';
  return names.has(String(name)) || names.has(`${String(name)} ${String(id)}`);
}
