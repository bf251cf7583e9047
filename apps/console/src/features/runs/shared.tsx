import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useSharedRun, useSharedTrace } from '../../api/traces';
import { merged } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { middle, runName } from '../../ui/format';
import { late } from '../../ui/late';
import { Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { textOf } from './run-facts';
import { RunView } from './run-view';

// A run that stands alone needs no tree.
const TraceView = late(async () => (await import('./trace-view')).TraceView);
const FROM = '/public/$token/r';

/** A shared run and the runs below it, for whoever has its token. */
export function SharedRunPage() {
  const { token } = useParams({ from: FROM });
  const { run: chosen } = useSearch({ from: FROM });
  const navigate = useNavigate();
  const run = useSharedRun(token, chosen);
  const trace = useSharedTrace(token);
  const data = run.data;
  const name = runName(data?.name, 'Shared run');
  useTitle(name);
  if (run.error && !data && chosen === undefined) {
    return <ErrorPage error={run.error} thing="shared run" retry={() => void run.refetch()} />;
  }
  const lines = trace.data ?? [];
  const parents = new Set(lines.map(({ id }) => id));
  const top = lines.find(({ parent_run_id: above }) => above === null || !parents.has(above));
  const shown = (
    <>
      {run.error && <Problem error={run.error} retry={() => void run.refetch()} />}
      {trace.error && <Problem error={trace.error} retry={() => void trace.refetch()} />}
      {!data && !run.error && <Skeleton />}
      {data && <RunView run={data} from={top?.start_time} old={run.isPlaceholderData} />}
    </>
  );
  return (
    <Page fill={lines.length > 1 || undefined} title={<Text title={name.slice(0, 1000)}>{middle(name, 80)}</Text>}>
      {lines.length > 1 ? (
        <Suspense fallback={<Skeleton />}>
          <TraceView
            lines={lines}
            root={top?.id}
            focus={chosen ?? textOf(data?.id) ?? ''}
            hrefOf={(id) => `?run=${encodeURIComponent(id)}`}
            onFocus={(id) => void navigate({ to: '.', search: merged({ run: id }), replace: true, resetScroll: false })}
          >
            {shown}
          </TraceView>
        </Suspense>
      ) : (
        shown
      )}
    </Page>
  );
}
