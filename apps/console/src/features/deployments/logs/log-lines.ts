import { useCallback, useEffect, useRef, useState } from 'react';
import { answered, api, type Schemas } from '../../../api/client';

export type LogLine = Schemas['LogLine'];
type LogsRequest = Schemas['LogsRequest'];

const PAGE = 1000;
const FOLLOW_MS = 1500;
const MOST_PAGES = 200;

/** Which log, and which lines of it. */
export interface LogChoice {
  readonly deployment: string;
  /** Undefined for the deploy logs of all revisions together, and for what the program writes. */
  readonly revision?: string;
  readonly phase: 'build' | 'deploy' | 'run';
  readonly level?: string;
  readonly query?: string;
}

/** A page of the lines of a log. */
export function readLog(
  { deployment, revision, phase, level, query }: LogChoice,
  page: Partial<LogsRequest>,
  signal?: AbortSignal,
) {
  const body: LogsRequest = {
    order: 'asc',
    limit: PAGE,
    ...(level && { level: level as never }),
    ...(query && { query }),
    ...page,
  };
  const path = { deployment_id: deployment };
  if (phase === 'run') {
    // The members are the same; only their types are those of an address.
    const params = { path, query: body as never };
    return answered(api.GET('/v2/deployments/{deployment_id}/app_logs', { params, signal }));
  }
  if (revision === undefined) {
    return answered(api.POST('/v1/projects/{deployment_id}/deploy_logs', { params: { path }, body, signal }));
  }
  const params = { path: { ...path, revision_id: revision } };
  return phase === 'build'
    ? answered(api.POST('/v1/projects/{deployment_id}/revisions/{revision_id}/build_logs', { params, body, signal }))
    : answered(api.POST('/v1/projects/{deployment_id}/revisions/{revision_id}/deploy_logs', { params, body, signal }));
}

interface Lines {
  readonly lines: readonly LogLine[];
  /** True when older lines may be left in the service. */
  readonly older: boolean;
  /** Number of lines that were ever put before the others. */
  readonly before: number;
}

const NONE: Lines = { lines: [], older: true, before: 0 };

/** The end of a log, what comes before it on demand, and what is added to it while `follow` is set. */
export function useLogLines(choice: LogChoice, follow: boolean, from?: string) {
  const { deployment, revision, phase, level, query } = choice;
  const key = [deployment, revision, phase, level, query, from].join('\n');
  const [found, setFound] = useState<Lines & { key?: string }>(NONE);
  const [error, setError] = useState<Error>();
  const fetching = useRef(false);
  const current = found.key === key ? found : NONE;
  const latest = useRef(current);
  latest.current = current;

  // The newest lines, or those up to the line that the address names.
  useEffect(() => {
    const stop = new AbortController();
    setError(undefined);
    const until = from === undefined ? undefined : String(BigInt(from) + 1n);
    const newest = readLog(choice, { order: 'desc', ...(until !== undefined && { offset: until }) }, stop.signal);
    // What comes after a line says what became of it.
    const after = from === undefined ? undefined : readLog(choice, { order: 'asc', offset: from }, stop.signal);
    Promise.all([newest, after]).then(
      ([{ logs }, later]) => {
        const lines = [...logs.reverse(), ...(later?.logs ?? [])];
        setFound({ key, lines, older: logs.length === PAGE, before: 0 });
      },
      (problem: Error) => !stop.signal.aborted && setError(problem),
    );
    return () => stop.abort();
  }, [key]);

  // Lines that were added since, while they are wanted; a page that is full is followed by the next one at once.
  useEffect(() => {
    if (!follow || found.key !== key) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      let wait = FOLLOW_MS;
      try {
        const newest = latest.current.lines.at(-1)?.id;
        const { logs } = await readLog(
          choice,
          { order: 'asc', ...(newest !== undefined && { offset: newest }) },
          stop.signal,
        );
        setError(undefined);
        if (logs.length === PAGE) wait = 0;
        if (logs.length > 0 && latest.current.lines.at(-1)?.id === newest) {
          setFound((old) => (old.key === key ? { ...old, lines: [...old.lines, ...logs] } : old));
        }
      } catch (problem) {
        if (!stop.signal.aborted) setError(problem as Error);
      }
      if (!stop.signal.aborted) timer = setTimeout(() => void look(), wait);
    };
    timer = setTimeout(() => void look(), FOLLOW_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [key, follow, found.key]);

  const more = useCallback(async () => {
    const { lines, older } = latest.current;
    const [first] = lines;
    if (fetching.current || !older || !first) return;
    fetching.current = true;
    try {
      const { logs } = await readLog(choice, { order: 'desc', offset: first.id });
      setFound((old) =>
        old.key === key
          ? {
              ...old,
              lines: [...logs.reverse(), ...old.lines],
              older: logs.length === PAGE,
              before: old.before + logs.length,
            }
          : old,
      );
    } catch (problem) {
      setError(problem as Error);
    } finally {
      fetching.current = false;
    }
  }, [key]);

  return { ...current, loaded: found.key === key, error, more };
}

/** All lines of a log as text, from the oldest on. */
export async function wholeLog(choice: LogChoice): Promise<string> {
  const all: string[] = [];
  let offset: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { logs, next_offset } = await readLog(choice, { order: 'asc', ...(offset !== undefined && { offset }) });
    for (const { timestamp, level, message } of logs) all.push(`${timestamp} ${level} ${message}\n`);
    if (logs.length < PAGE || next_offset === null) break;
    offset = next_offset;
  }
  return all.join('');
}
