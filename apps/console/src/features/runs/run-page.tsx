import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, useEffect, useRef } from 'react';
import { isLong, useFeedback, useRun, useTrace } from '../../api/traces';
import { Adding } from '../../ui/adding/adding';
import { ErrorPage } from '../../ui/error-page';
import { middle, runName } from '../../ui/format';
import { late } from '../../ui/late';
import { Button, Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { Share } from '../../ui/share';
import { textOf } from './run-facts';
import { RunView } from './run-view';
import { ProjectCrumb } from './project-crumb';

// A run that stands alone needs no tree.
const TraceView = late(async () => (await import('./trace-view')).TraceView);
const RUN = '/o/$w/projects/p/$session/r/$run';

/** A run in its trace. */
export function RunPage() {
  const { w, session, run: id } = useParams({ from: RUN });
  const navigate = useNavigate();
  const run = useRun(w, id);
  const data = run.data;
  // While a run of the trace is being read, or cannot be, its trace stays.
  const known = useRef<string>(undefined);
  known.current = textOf(data?.trace_id) ?? known.current;
  const root = known.current;
  const trace = useTrace(w, session, root);
  const pages = trace.data?.pages;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError } = trace;
  const goesOn = hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  const pause = isLong(pages?.length ?? 0);
  useEffect(() => {
    if (goesOn && !pause) void trace.fetchNextPage();
  }, [goesOn, pause, pages?.length]);
  const lines = useLines(pages);
  const feedback = useFeedback(w, id);
  const top = lines?.find((one) => one.id === root);
  const name = runName(lines?.find((one) => one.id === id)?.name ?? data?.name, 'Run');
  useTitle(name);
  if (run.error && !data && !lines?.some((one) => one.id === id)) {
    return (
      <ErrorPage error={run.error} thing="run" retry={() => void run.refetch()}>
        <Link to="/o/$w/projects/p/$session" params={{ w, session }}>
          Its project
        </Link>
      </ErrorPage>
    );
  }
  const title = runName(top?.name ?? data?.name, 'Run');
  const shown =
    run.error && !data ? (
      <Problem error={run.error} retry={() => void run.refetch()} />
    ) : data ? (
      <RunView
        run={data}
        from={top?.start_time}
        feedback={data.id === id ? feedback.data : undefined}
        old={run.isPlaceholderData}
        tools={typeof data.replaced_by === 'string' && <Replaced w={w} session={session} by={data.replaced_by} />}
      />
    ) : (
      <Skeleton />
    );
  return (
    <Page
      fill
      title={
        <>
          <ProjectCrumb w={w} session={session} /> <Text title={title.slice(0, 1000)}>{middle(title, 80)}</Text>
        </>
      }
      aside={
        data &&
        !data.replaced_by && (
          <>
            <Adding key={id} run={id} sent={data.id === id ? data : undefined} />
            <Share what={{ kind: 'run', run_id: id }} />
          </>
        )
      }
    >
      {trace.error && <Problem error={trace.error} retry={() => void trace.refetch()} />}
      {!lines && !trace.error && <Skeleton />}
      {lines && lines.length > 1 ? (
        <Suspense fallback={<Skeleton />}>
          <TraceView
            lines={lines}
            root={root}
            focus={id}
            hrefOf={(one) => `/o/${w}/projects/p/${session}/r/${one}`}
            onFocus={(one) => {
              const params = { w, session, run: one };
              void navigate({ to: RUN, params, search: (old) => old, replace: true, resetScroll: false });
            }}
            more={
              hasNextPage &&
              (pause || isFetchNextPageError) && (
                <Button disabled={isFetchingNextPage} onClick={() => void trace.fetchNextPage()}>
                  Read more runs
                </Button>
              )
            }
          >
            {shown}
          </TraceView>
        </Suspense>
      ) : (
        (lines ?? trace.error) && shown
      )}
    </Page>
  );
}

type Pages = NonNullable<ReturnType<typeof useTrace>['data']>['pages'];

/** The runs of all pages; the same list until there are others. */
function useLines(pages: Pages | undefined) {
  const last = useRef<{ pages?: Pages; lines?: Pages[number]['runs'] }>({});
  if (last.current.pages !== pages) last.current = { pages, lines: pages?.flatMap(({ runs }) => runs) };
  return last.current.lines;
}

function Replaced({ w, session, by }: { w: string; session: string; by: string }) {
  return (
    <>
      <span role="note">This run failed and was replaced when its row was filled.</span>
      <Link to={RUN} params={{ w, session, run: by }}>
        Show the run that replaced it
      </Link>
    </>
  );
}
