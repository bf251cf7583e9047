import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { mayEnd, type TraceLine, useEnded, useNewer, useTraces } from '../../api/traces';
import { useAddress } from '../../ui/address';
import { whole } from '../../ui/format';
import { late } from '../../ui/late';
import { Nothing } from '../../ui/list';
import { Button, Problem, Skeleton } from '../../ui/parts';
import { FILTERS, tracesAsked } from './filters';
import css from './runs.module.css';
import { TraceRows } from './trace-rows';

const BulkActions = late(async () => (await import('./bulk')).BulkActions);

/** The root runs of a project, the newest first; of all that were read, only those in view are in the document. */
export function TraceList({ w, project }: { w: string; project: string }) {
  const { search } = useAddress();
  const queries = useQueryClient();
  const key = FILTERS.map((name) => search[name]);
  const asked = () => tracesAsked(search, Date.now());
  const query = useTraces(w, project, key, asked);
  const pages = query.data?.pages;
  const read = useMemo(() => pages?.flatMap(({ traces }) => traces) ?? [], [pages]);
  const running = read.filter(mayEnd).slice(0, 100);
  const ended = useEnded(
    w,
    running.map(({ id }) => id),
  );
  const lines = useMemo(
    () => (ended ? read.map((line) => (line.status === 'pending' ? merge(line, ended.get(line.id)) : line)) : read),
    [read, ended],
  );
  const newer = useNewer([w, project, key, asked], query.isPlaceholderData ? undefined : pages?.[0]?.first_cursor);
  const scroller = useRef<HTMLDivElement>(null);
  const load = () => {
    // The pages behind the first one would be read again, one after the other.
    queries.setQueryData<typeof query.data>(
      ['traces', w, project, ...key],
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void query.refetch();
    scroller.current?.scrollTo({ top: 0 });
  };
  const isEmpty = pages !== undefined && lines.length === 0;
  useEffect(() => {
    if (isEmpty && newer.count > 0) load();
  }, [isEmpty, newer.count]);
  const [chosen, setChosen] = useState<readonly TraceLine[]>([]);
  const ticked = useMemo(() => new Set(chosen.map(({ id }) => id)), [chosen]);
  const tick = useCallback(
    (line: TraceLine) =>
      setChosen((now) =>
        now.some(({ id }) => id === line.id) ? now.filter(({ id }) => id !== line.id) : [...now, line],
      ),
    [],
  );
  const filtered = FILTERS.some((name) => search[name]);
  return (
    <>
      <Suspense>
        {chosen.length > 0 && (
          <div className={css.news}>
            <BulkActions chosen={chosen} onDone={() => setChosen([])} />
          </div>
        )}
      </Suspense>
      <div role="status" className={css.news}>
        {newer.count > 0 && !isEmpty && (
          <Button onClick={load}>
            {whole(newer.count)}
            {newer.more && '+'} new
          </Button>
        )}
      </div>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      {!pages && !query.error && <Skeleton />}
      {isEmpty && !query.hasNextPage && (
        <Nothing title={filtered ? 'No run passes these filters.' : 'This project has no runs yet.'}>
          {!filtered && <p>The first one appears here by itself.</p>}
        </Nothing>
      )}
      {pages && (lines.length > 0 || query.hasNextPage) && (
        <TraceRows
          w={w}
          project={project}
          lines={lines}
          query={query}
          scroller={scroller}
          ticked={ticked}
          onTick={tick}
        />
      )}
    </>
  );
}

function merge(line: TraceLine, now: Partial<TraceLine> | undefined): TraceLine {
  return !now || now.status === line.status ? line : { ...line, ...now };
}
