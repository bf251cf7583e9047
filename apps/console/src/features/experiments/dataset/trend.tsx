import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, api, type Schemas } from '../../../api/client';
import { useAddress } from '../../../ui/address';
import { followedIn, Graph, meanColumns } from '../../../ui/charts/trend-graph';
import { Filters, Pick } from '../../../ui/form';
import { middle } from '../../../ui/format';
import { List, More, Nothing } from '../../../ui/list';
import { Problem, Skeleton, Text, Time } from '../../../ui/parts';
import { keyCounts, useExperiments } from '../data';
import css from '../experiments.module.css';

const PAGE = 50;

/** A score or a measure over the experiments of a dataset; the address names which one as `key` or `measure`. */
export function Trend({ dataset }: { dataset: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const newest = useExperiments({ dataset });
  const keys = keyCounts(newest.data?.pages[0]?.resources ?? []).map(([key]) => key);
  const { followed, options, value, named, show } = followedIn(search, keys);
  const query = useInfiniteQuery({
    queryKey: ['trend', w, dataset, value],
    queryFn: ({ pageParam, signal }) => {
      const page = { limit: PAGE, ...(pageParam !== null && { cursor: pageParam }) };
      const params = { path: { dataset_id: dataset }, query: { ...followed, ...page } };
      return answered(api.GET('/api/v1/datasets/{dataset_id}/trend', { params, signal })) as Promise<Schemas['Trend']>;
    },
    enabled: newest.data !== undefined,
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const failed = query.error ?? newest.error;
  if (failed && !query.data) return <Problem error={failed} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton />;
  const points = query.data.pages.flatMap(({ resources }) => resources);
  if (points.length === 0) return <Nothing title="No experiment ran on this dataset yet." />;
  return (
    <>
      <Filters>
        <Pick label="Followed" value={value} onChange={(name) => change(named(name))} options={options} />
      </Filters>
      <Graph
        points={points
          .map((point) => ({ ...point, id: point.experiment_id, tick: String(point.test_run_number ?? '') }))
          .reverse()}
        show={show}
        of="experiments"
      />
      <List
        label="Trend"
        items={points}
        keyOf={({ experiment_id: id }) => id}
        columns={[
          {
            title: 'Experiment',
            kind: 'name',
            cell: ({ experiment_id: id, name, test_run_number: place }) => (
              <>
                <span className={css.place}>{place}</span>
                <Link
                  to="/o/$w/datasets/$dataset/compare"
                  params={{ w, dataset }}
                  search={{ selectedSessions: id }}
                  title={name}
                >
                  <Text>{middle(name, 40)}</Text>
                </Link>
              </>
            ),
          },
          ...meanColumns(show),
          { title: 'Started', kind: 'number', cell: ({ start_time: start }) => <Time at={start} /> },
        ]}
      />
      <More query={query} />
    </>
  );
}
