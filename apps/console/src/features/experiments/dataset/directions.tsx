import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api } from '../../../api/client';
import { useMay } from '../../../api/session';
import { Pick } from '../../../ui/form';
import { middle } from '../../../ui/format';
import { List, Nothing } from '../../../ui/list';
import { Problem, Skeleton, Text } from '../../../ui/parts';
import { keyCounts, useExperiments } from '../data';
import css from '../experiments.module.css';

const WAYS = { '': 'Higher is better', lower: 'Lower is better' };
/** Queries whose answers depend on the directions. */
const CONCERNED = new Set(['directions', 'experiments', 'comparison', 'rows', 'row']);

/** For each score key of a dataset, whether higher or lower scores are better. */
export function Directions({ dataset }: { dataset: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const queries = useQueryClient();
  const may = useMay('write');
  const params = { path: { dataset_id: dataset } };
  const found = useQuery({
    queryKey: ['directions', w, dataset],
    queryFn: ({ signal }) => answered(api.GET('/api/v1/datasets/{dataset_id}/score-directions', { params, signal })),
  });
  const experiments = useExperiments({ dataset });
  const change = useMutation({
    mutationFn: ({ key, way }: { key: string; way: string }) => {
      const without = (keys: readonly string[]) => keys.filter((one) => one !== key);
      const { lower_is_better, higher_is_better } = found.data!;
      const body = {
        lower_is_better: [...without(lower_is_better), ...(way === 'lower' ? [key] : [])],
        higher_is_better: [...without(higher_is_better), ...(way === 'lower' ? [] : [key])],
      };
      return answered(api.PUT('/api/v1/datasets/{dataset_id}/score-directions', { params, body }));
    },
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => CONCERNED.has(String(name)) }),
  });
  const error = found.error ?? experiments.error;
  if (error) return <Problem error={error} retry={() => void found.refetch()} />;
  if (!found.data || !experiments.data) return <Skeleton />;
  const { lower_is_better: lower, higher_is_better: higher } = found.data;
  const scored = keyCounts(experiments.data.pages.flatMap(({ resources }) => resources)).map(([key]) => key);
  const keys = [...new Set([...scored, ...lower, ...higher])];
  if (keys.length === 0) return <Nothing title="No experiment on this dataset has a score yet." />;
  return (
    <>
      <p className={css.description}>
        Comparisons and lists call a difference better or worse by the direction of its key. An upload or a comparison
        may say its own.
      </p>
      {change.error && <Problem error={change.error} />}
      <List
        label="Directions"
        items={keys}
        keyOf={(key) => key}
        columns={[
          { title: 'Score', kind: 'name', cell: (key) => <Text title={key}>{middle(key, 64)}</Text> },
          {
            title: 'Direction',
            cell: (key) =>
              may ? (
                <Pick
                  label={`Direction of ${key}`}
                  value={lower.includes(key) ? 'lower' : ''}
                  onChange={(way) => change.mutate({ key, way })}
                  options={WAYS}
                />
              ) : (
                WAYS[lower.includes(key) ? 'lower' : '']
              ),
          },
        ]}
      />
    </>
  );
}
