import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { answered, api, type Session } from '../../api/client';
import { ErrorPage } from '../../ui/error-page';
import { duration, middle, percent, whole } from '../../ui/format';
import { List, More, Nothing, Tabs } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { differing, isStoring, keysOf, metadataOf, statisticsOf } from './data';
import { ExampleList } from './examples';
import css from './experiments.module.css';
import { Mean } from './mean';

const PAGE = 100;
const FROM = '/public/$token/d';

/** A shared dataset, its experiments and its examples, for whoever has its token. */
export function SharedDatasetPage() {
  const { token } = useParams({ from: FROM });
  const { tab = 'experiments' } = useSearch({ from: FROM });
  const path = { dataset_token: token };
  const dataset = useQuery({
    queryKey: ['shared', token, 'dataset'],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/public/{dataset_token}/datasets', { params: { path }, signal, credentials: 'omit' })),
  });
  const name = dataset.data?.name ?? 'Shared dataset';
  useTitle(name);
  const counts = dataset.data && {
    experiments: `Experiments ${whole(dataset.data.session_count)}`,
    examples: `Examples ${whole(dataset.data.example_count ?? 0)}`,
  };
  if (dataset.error && !dataset.data) {
    return <ErrorPage error={dataset.error} thing="shared dataset" retry={() => void dataset.refetch()} />;
  }
  return (
    <Page title={<Text>{name}</Text>}>
      {dataset.error && <Problem error={dataset.error} retry={() => void dataset.refetch()} />}
      {!dataset.data && <Skeleton />}
      {dataset.data?.description && (
        <p className={css.description}>
          <Text>{dataset.data.description}</Text>
        </p>
      )}
      {counts && (
        <>
          <Tabs label="Parts of the dataset" tabs={counts} current={tab} />
          {tab === 'examples' ? <Examples token={token} /> : <Experiments token={token} />}
        </>
      )}
    </Page>
  );
}

function Experiments({ token }: { token: string }) {
  const query = useInfiniteQuery({
    queryKey: ['shared', token, 'experiments'],
    queryFn: ({ pageParam, signal }) =>
      answered(
        api.GET('/api/v1/public/{dataset_token}/datasets/sessions', {
          params: { path: { dataset_token: token }, query: { offset: pageParam, limit: PAGE } },
          signal,
          credentials: 'omit',
        }),
      ) as Promise<Session[]>,
    initialPageParam: 0,
    getNextPageParam: (last, all) => (last.length === PAGE ? all.length * PAGE : undefined),
  });
  const sessions = query.data?.pages.flat() ?? [];
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton />;
  if (sessions.length === 0) return <Nothing title="No experiment ran on this dataset yet." />;
  const number = 'number' as const;
  return (
    <>
      <List
        label="Experiments"
        items={sessions}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', kind: 'name', cell: ({ name }) => <Text title={name}>{middle(name, 48)}</Text> },
          ...keysOf(sessions).map((key) => ({
            id: `score:${key}`,
            title: key,
            kind: number,
            cell: (session: Session) =>
              isStoring(session) ? (
                <span className={css.storing}>storing</span>
              ) : (
                <Mean
                  statistics={statisticsOf(session)[key]}
                  runs={session.feedback_stats?.[key] ? session.run_count : null}
                />
              ),
          })),
          { title: 'p50', kind: number, cell: ({ latency_p50 }) => duration(latency_p50) },
          { title: 'Errors', kind: number, cell: ({ error_rate }) => percent(error_rate) },
          { title: 'Rows', kind: number, cell: ({ run_count }) => whole(run_count ?? 0) },
          ...differing(sessions).map((column) => ({
            title: column,
            cell: (session: Session) => {
              const value = metadataOf(session)[column];
              return value === undefined ? '–' : <Text>{middle(String(value), 24)}</Text>;
            },
          })),
          { title: 'Started', kind: number, cell: ({ start_time }) => <Time at={start_time} /> },
        ]}
      />
      <More query={query} />
    </>
  );
}

function Examples({ token }: { token: string }) {
  const query = useInfiniteQuery({
    queryKey: ['shared', token, 'examples'],
    queryFn: ({ pageParam, signal }) =>
      answered(
        api.GET('/api/v1/public/{dataset_token}/examples', {
          params: { path: { dataset_token: token }, query: { offset: pageParam, limit: PAGE } },
          signal,
          credentials: 'omit',
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last, all) => (last.length === PAGE ? all.length * PAGE : undefined),
  });
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton />;
  return (
    <>
      <ExampleList examples={query.data.pages.flat()} />
      <More query={query} />
    </>
  );
}
