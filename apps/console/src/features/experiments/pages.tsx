import { Link, useParams, useSearch } from '@tanstack/react-router';
import { ErrorPage } from '../../ui/error-page';
import { middle, whole } from '../../ui/format';
import { List, Tabs } from '../../ui/list';
import { Page, Problem, Skeleton, Text, Time, useTitle } from '../../ui/parts';
import { useDataset, useDatasets, useExamples } from './data';
import { ExampleList } from './examples';
import css from './experiments.module.css';
import { FirstUpload } from './first-upload';
import { ExperimentTable } from './table';

/** The experiments of all datasets. */
export function ExperimentsPage() {
  useTitle('Experiments');
  return (
    <Page title="Experiments">
      <ExperimentTable none={<FirstUpload />} />
    </Page>
  );
}

/** All datasets. */
export function DatasetsPage() {
  useTitle('Datasets');
  const { w } = useParams({ from: '/o/$w' });
  const datasets = useDatasets();
  return (
    <Page title="Datasets">
      {datasets.error && <Problem error={datasets.error} retry={() => void datasets.refetch()} />}
      {!datasets.data && !datasets.error && <Skeleton />}
      {datasets.data?.length === 0 && <FirstUpload />}
      {datasets.data && datasets.data.length > 0 && (
        <List
          label="Datasets"
          items={datasets.data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Name',
              kind: 'name',
              cell: ({ id, name }) => (
                <Link to="/o/$w/datasets/$dataset" params={{ w, dataset: id }} title={name}>
                  <Text>{middle(name, 64)}</Text>
                </Link>
              ),
            },
            { title: 'Examples', kind: 'number', cell: ({ example_count }) => whole(example_count ?? 0) },
            { title: 'Experiments', kind: 'number', cell: ({ session_count }) => whole(session_count) },
            {
              title: 'Last experiment',
              kind: 'number',
              cell: ({ last_session_start_time: last }) => (last ? <Time at={last} /> : '–'),
            },
            { title: 'Made', kind: 'number', cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
    </Page>
  );
}

/** One dataset: its experiments and its examples. */
export function DatasetPage() {
  const { w, dataset: id } = useParams({ from: '/o/$w/datasets/$dataset' });
  const { tab = 'experiments' } = useSearch({ from: '/o/$w/datasets/$dataset' });
  const dataset = useDataset(id);
  const name = dataset.data?.name ?? 'Dataset';
  useTitle(name);
  const tabs = {
    experiments: `Experiments ${whole(dataset.data?.session_count ?? 0)}`,
    examples: `Examples ${whole(dataset.data?.example_count ?? 0)}`,
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
          <span className={css.count}>/</span> <Text>{name}</Text>
        </>
      }
    >
      {dataset.error && <Problem error={dataset.error} retry={() => void dataset.refetch()} />}
      {dataset.data?.description && (
        <p className={css.description}>
          <Text>{dataset.data.description}</Text>
        </p>
      )}
      <Tabs label="Parts of the dataset" tabs={tabs} current={tab} />
      {tab === 'examples' ? <Examples dataset={id} /> : null}
      {tab !== 'examples' && (
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

function Examples({ dataset }: { dataset: string }) {
  const examples = useExamples(dataset);
  if (examples.error) return <Problem error={examples.error} />;
  if (!examples.data) return <Skeleton />;
  return (
    <>
      <ExampleList examples={examples.data} />
      {examples.data.length === 100 && <p className={css.nothing}>The first 100 examples.</p>}
    </>
  );
}
