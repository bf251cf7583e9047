import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../api/session';
import { Named, Page } from '../../ui/parts';
import { Share } from '../../ui/share';
import css from './compare.module.css';
import { useDatasetBaseline } from './data';
import { CompareView } from './view';

const FROM = '/o/$w/datasets/$dataset/compare';

/** The experiments that the address names. */
export function ComparePage() {
  const { w, dataset } = useParams({ from: FROM });
  const { selectedSessions, baseline } = useSearch({ from: FROM });
  const experiments = useMemo(() => (selectedSessions ?? '').split(',').filter(Boolean), [selectedSessions]);
  const kept = useDatasetBaseline(dataset);
  const session = useSession().data;
  if (experiments.length === 0) {
    return (
      <Page title="Compare">
        <p>
          Choose experiments of this dataset:{' '}
          <Link to="/o/$w/datasets/$dataset" params={{ w, dataset }}>
            list them
          </Link>
          .
        </p>
      </Page>
    );
  }
  const first = baseline ?? experiments[0]!;
  const shared = [first, ...experiments.filter((id) => id !== first)];
  return (
    <CompareView
      dataset={dataset}
      dataset_name={kept.name}
      experiments={experiments}
      crumb={
        <>
          <Link to="/o/$w/datasets" params={{ w }} className={css.crumb}>
            Datasets
          </Link>{' '}
          <span className={css.faint}>/</span>{' '}
          <Link to="/o/$w/datasets/$dataset" params={{ w, dataset }} className={css.crumb} title={kept.name}>
            <Named name={kept.name} kind="Dataset" most={40} />
          </Link>
        </>
      }
      own={{
        baseline: kept,
        saves: w === '-' || w === session?.workspace_id,
        share: <Share what={{ kind: 'comparison', dataset_id: dataset, experiments: shared }} />,
      }}
      searchable
    />
  );
}
