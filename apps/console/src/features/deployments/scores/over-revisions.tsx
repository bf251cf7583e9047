import { Link } from '@tanstack/react-router';
import { useAddress } from '../../../ui/address';
import { followedIn, Graph, meanColumns } from '../../../ui/charts/trend-graph';
import { Pick } from '../../../ui/form';
import { whole } from '../../../ui/format';
import { List, Section } from '../../../ui/list';
import { Problem, Skeleton } from '../../../ui/parts';
import { useWorkspace } from '../data';
import css from '../deployments.module.css';
import { type Revision, revisionName } from '../words';
import { evaluatedOn } from './figures';
import { MOST_REVISIONS, useDatasetNames, useRevisionTrend, useScores } from './scores';

/** Experiments that the comparison takes. */
const MOST_COMPARED = 20;

/** A score or a measure over the newest revisions, of their experiments on one dataset. */
export function OverRevisions({ revisions }: { revisions: readonly Revision[] }) {
  const w = useWorkspace();
  const { search, change } = useAddress();
  const newest = revisions.slice(0, MOST_REVISIONS);
  const scores = useScores(newest);
  const { datasets, keysOn } = evaluatedOn([...scores.of.values()]);
  const names = useDatasetNames(datasets);
  const dataset = datasets.find((id) => id === search.dataset) ?? datasets[0];
  const { followed, options, value, named, show } = followedIn(search, dataset === undefined ? [] : keysOn(dataset));
  const trend = useRevisionTrend(newest, dataset, followed);
  const error = scores.error ?? trend.error;
  const points = (trend.data?.resources ?? []).map((point) => {
    const revision = newest.find(({ id }) => id === point.revision_id);
    const name = revisionName(revision ?? { id: point.revision_id });
    return { ...point, id: point.revision_id, name, tick: name };
  });
  const compared = points.flatMap(({ experiments: [first] }) => first ?? []).slice(0, MOST_COMPARED);
  return (
    <Section
      title="Over revisions"
      aside={
        dataset !== undefined && (
          <>
            <Pick
              label="Followed"
              value={value}
              onChange={(name) => change(named(name), 'replace')}
              options={options}
            />
            {datasets.length > 1 && (
              <Pick
                label="Dataset"
                value={dataset}
                onChange={(id) => change({ dataset: id }, 'replace')}
                options={Object.fromEntries(datasets.map((id) => [id, names?.get(id) ?? id.slice(0, 8)]))}
              />
            )}
            {compared.length > 1 && (
              <Link
                to="/o/$w/datasets/$dataset/compare"
                params={{ w, dataset }}
                search={{ selectedSessions: compared.toReversed().join() }}
              >
                Compare row by row
              </Link>
            )}
          </>
        )
      }
    >
      {error && <Problem error={error} retry={() => (scores.error ? scores.refetch() : void trend.refetch())} />}
      {!error && (scores.isPending || (dataset !== undefined && !trend.data)) && <Skeleton rows={4} />}
      {!scores.isPending && !error && dataset === undefined && (
        <p className={css.quiet}>
          No experiment names a revision of this deployment. One that has the id of a revision as{' '}
          <code>revision_id</code> in its metadata shows its scores here.
        </p>
      )}
      {trend.data && dataset !== undefined && (
        <>
          <Graph points={points.toReversed()} show={show} of="revisions" />
          <List
            label="Trend"
            items={points}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Revision', kind: 'name', cell: ({ name }) => name },
              ...meanColumns(show),
              {
                title: 'Experiments',
                kind: 'number',
                cell: ({ name, experiments, more, storing }) => (
                  <>
                    {experiments.length > 0 && (
                      <Link
                        to="/o/$w/datasets/$dataset/compare"
                        params={{ w, dataset }}
                        search={{ selectedSessions: experiments.join() }}
                        aria-label={`Experiments of ${name}: ${whole(experiments.length)}`}
                      >
                        {whole(experiments.length)}
                        {more && '+'}
                      </Link>
                    )}
                    {storing > 0 && <span className={css.faint}> {whole(storing)} being stored</span>}
                  </>
                ),
              },
            ]}
          />
          {trend.data.unread.length > 0 && (
            <p className={css.quiet}>{whole(trend.data.unread.length)} more revisions have too many runs to be read.</p>
          )}
        </>
      )}
    </Section>
  );
}
