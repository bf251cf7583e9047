import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useAddress } from '../../ui/address';
import { type Column, ColumnsButton } from '../../ui/columns/list-columns';
import { ErrorPage } from '../../ui/error-page';
import { Filters, Typed } from '../../ui/form';
import { middle, whole } from '../../ui/format';
import { late } from '../../ui/late';
import { List, More, Nothing, Tabs } from '../../ui/list';
import { Named, Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { SavedViews } from '../../ui/views/saved-views';
import { useDataset, useDatasets } from './data';
import { CopyDataset } from './dataset/copy-dataset';
import css from './experiments.module.css';
import { FirstUpload } from './first-upload';
import { ExperimentTable } from './table';

type Dataset = NonNullable<ReturnType<typeof useDatasets>['data']>['pages'][number][number];

// The tabs come when they are looked at.
const Examples = late(async () => (await import('./dataset/examples')).Examples);
const Versions = late(async () => (await import('./dataset/versions')).Versions);
const Trend = late(async () => (await import('./dataset/trend')).Trend);
const Directions = late(async () => (await import('./dataset/directions')).Directions);

/** The experiments of all datasets. */
export function ExperimentsPage() {
  useTitle('Experiments');
  return (
    <Page title="Experiments">
      <ExperimentTable none={<FirstUpload none="experiment" />} />
    </Page>
  );
}

/** All datasets. */
export function DatasetsPage() {
  useTitle('Datasets');
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const query = useDatasets(search.q);
  const datasets = query.data?.pages.flat();
  const columns: Column<Dataset>[] = [
    {
      title: 'Name',
      kind: 'name',
      cell: ({ id, name }) => (
        <Link to="/o/$w/datasets/$dataset" params={{ w, dataset: id }} title={name}>
          <Text>{middle(name, 64)}</Text>
        </Link>
      ),
    },
    { title: 'Description', hidden: true, cell: ({ description }) => <Text>{middle(description ?? '', 80)}</Text> },
    { title: 'Examples', kind: 'number', cell: ({ example_count }) => whole(example_count ?? 0) },
    { title: 'Experiments', kind: 'number', cell: ({ session_count }) => whole(session_count) },
    {
      title: 'Last experiment',
      kind: 'number',
      cell: ({ last_session_start_time: last }) => (last ? <Time at={last} /> : '–'),
    },
    { title: 'Changed', kind: 'number', hidden: true, cell: ({ modified_at }) => <Time at={modified_at} /> },
    { title: 'Made', kind: 'number', cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  return (
    <Page title="Datasets">
      <Filters>
        <Typed
          label="Name contains"
          main
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined }, 'replace')}
        />
        <SavedViews page="datasets" />
        <ColumnsButton list="datasets" columns={columns} />
      </Filters>
      {query.error && <Problem error={query.error} retry={() => void query.refetch()} />}
      {!datasets && !query.error && <Skeleton />}
      {datasets?.length === 0 &&
        (search.q ? <Nothing title="No dataset has this in its name." /> : <FirstUpload none="dataset" />)}
      {datasets && datasets.length > 0 && (
        <List
          name="datasets"
          label="Datasets"
          items={datasets}
          old={query.isPlaceholderData}
          keyOf={({ id }) => id}
          columns={columns}
        />
      )}
      {datasets && <More query={query} />}
    </Page>
  );
}

/** One dataset: its experiments, its examples and their versions, and the directions of its scores. */
export function DatasetPage() {
  const { w, dataset: id } = useParams({ from: '/o/$w/datasets/$dataset' });
  const { tab = 'experiments' } = useSearch({ from: '/o/$w/datasets/$dataset' });
  const dataset = useDataset(id);
  const name = dataset.data?.name ?? 'Dataset';
  useTitle(name);
  const tabs = {
    experiments: `Experiments ${whole(dataset.data?.session_count ?? 0)}`,
    examples: `Examples ${whole(dataset.data?.example_count ?? 0)}`,
    trend: 'Trend',
    versions: 'Versions',
    directions: 'Directions',
  };
  if (dataset.error && !dataset.data) {
    return (
      <ErrorPage error={dataset.error} thing="dataset" retry={() => void dataset.refetch()}>
        <Link to="/o/$w/datasets" params={{ w }}>
          All datasets
        </Link>
      </ErrorPage>
    );
  }
  return (
    <Page
      title={
        <>
          <Link to="/o/$w/datasets" params={{ w }} className={css.crumb}>
            Datasets
          </Link>{' '}
          <span className={css.count}>/</span> <Named name={dataset.data?.name} kind="Dataset" />
        </>
      }
      aside={dataset.data && <CopyDataset dataset={id} name={dataset.data.name} />}
    >
      {dataset.error && <Problem error={dataset.error} retry={() => void dataset.refetch()} />}
      {dataset.data?.description && (
        <p className={css.description}>
          <Text>{dataset.data.description}</Text>
        </p>
      )}
      <Tabs label="Parts of the dataset" tabs={tabs} current={tab} />
      <Suspense fallback={<Skeleton />}>
        {tab === 'examples' &&
          (dataset.data ? <Examples dataset={id} isUploaded={dataset.data.externally_managed} /> : <Skeleton />)}
        {tab === 'trend' && <Trend dataset={id} />}
        {tab === 'versions' && <Versions dataset={id} />}
        {tab === 'directions' && <Directions dataset={id} />}
      </Suspense>
      {tab === 'experiments' && (
        <ExperimentTable
          dataset={id}
          none={
            <p className={css.nothing}>No experiment ran on this dataset yet; the first one appears here by itself.</p>
          }
        />
      )}
    </Page>
  );
}
