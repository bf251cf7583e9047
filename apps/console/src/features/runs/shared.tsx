import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { answered, api, readShared } from '../../api/client';
import { merged } from '../../ui/address';
import { ErrorPage } from '../../ui/error-page';
import { runName } from '../../ui/format';
import { More } from '../../ui/list';
import { Page, Problem, Skeleton, Text, useTitle } from '../../ui/parts';
import { Status } from '../../ui/status';
import { RunParts } from './parts';
import css from './runs.module.css';
import { inTree } from './tree';

const FROM = '/public/$token/r';
const PAGE = 100;
const DEEPEST = 12;
const INDENT_PX = 16;
const TONES = { success: 'ok', error: 'bad', pending: 'busy' } as const;

/** A shared run and the runs below it, for whoever has its token. */
export function SharedRunPage() {
  const { token } = useParams({ from: FROM });
  const { run: chosen } = useSearch({ from: FROM });
  const run = useQuery({
    queryKey: ['shared', token, 'run', chosen],
    queryFn: ({ signal }) => {
      const below = chosen === undefined ? '' : `/${encodeURIComponent(chosen)}`;
      return readShared(`/api/v1/public/${encodeURIComponent(token)}/run${below}`, signal);
    },
  });
  const data = run.data as Record<string, unknown> | undefined;
  const name = runName(data?.name, 'Shared run');
  useTitle(name);
  if (run.error && !data && chosen === undefined) {
    return <ErrorPage error={run.error} thing="shared run" retry={() => void run.refetch()} />;
  }
  return (
    <Page title={<Text>{name}</Text>}>
      <div className={css.trace}>
        <Trace token={token} shown={typeof data?.id === 'string' ? data.id : undefined} />
        <div>
          {run.error && <Problem error={run.error} retry={() => void run.refetch()} />}
          {!data && !run.error && <Skeleton />}
          {data && <RunParts run={data} />}
        </div>
      </div>
    </Page>
  );
}

/** The shared run and those below it; nothing when it stands alone. */
function Trace({ token, shown }: { token: string; shown: string | undefined }) {
  const query = useInfiniteQuery({
    queryKey: ['shared', token, 'runs'],
    queryFn: ({ pageParam, signal }) =>
      answered(
        api.POST('/api/v1/public/{run_token}/runs/query', {
          params: { path: { run_token: token } },
          body: { limit: PAGE, order: 'asc', select: ['id', 'name', 'parent_run_id', 'status'], cursor: pageParam },
          signal,
          credentials: 'omit',
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursors }) => cursors.next ?? undefined,
  });
  const runs = query.data?.pages.flatMap((page) => page.runs) ?? [];
  if (query.error && runs.length === 0 && shown !== undefined) {
    return <Problem error={query.error} retry={() => void query.refetch()} />;
  }
  if (runs.length < 2) return null;
  return (
    <nav className={css.tree} aria-label="Runs">
      <ol>
        {inTree(runs).map(({ run: { id, name, status }, depth }) => (
          <li key={id} style={{ paddingLeft: Math.min(depth, DEEPEST) * INDENT_PX }}>
            <Link
              to="."
              search={merged({ run: id })}
              activeProps={{}}
              aria-current={id === shown ? 'page' : undefined}
              resetScroll={false}
            >
              <Text>{runName(name, 'Run')}</Text>
            </Link>
            {status && status !== 'success' && <Status tone={TONES[status]}>{status}</Status>}
          </li>
        ))}
      </ol>
      <More query={query} />
    </nav>
  );
}
