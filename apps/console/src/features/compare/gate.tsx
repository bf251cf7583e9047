import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { answered, api, type Comparison, type Schemas } from '../../api/client';
import { middle, whole } from '../../ui/format';
import { Section } from '../../ui/list';
import { Problem, Skeleton, Text } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './compare.module.css';

const MOST_REASONS = 10;
const OUTCOMES = { pass: ['ok', 'Pass'], fail: ['bad', 'Fail'], undecided: ['busy', 'Undecided'] } as const;

interface GateProps {
  readonly comparison: Comparison;
  readonly candidate: Comparison['experiments'][number];
}

/** Outcome of a gate without limits for a candidate: it fails on a key that is significantly worse. */
export function Gate({ comparison, candidate }: GateProps) {
  const { dataset_id, baseline } = comparison;
  const { w } = useParams({ from: '/o/$w' });
  const gate = useQuery({
    queryKey: ['comparison', w, dataset_id, candidate.id, baseline, 'gate', comparison.page.total],
    queryFn: ({ signal }) =>
      answered(
        api.POST('/api/v1/datasets/{dataset_id}/compare/gate', {
          params: { path: { dataset_id } },
          body: { experiments: [candidate.id], baseline } as never,
          signal,
        }),
      ) as Promise<Schemas['GateResult']>,
  });
  const { data } = gate;
  return (
    <div className={css.side}>
      <Section
        title={
          <>
            Gate for <Text title={candidate.name}>{middle(candidate.name, 40)}</Text>
          </>
        }
        aside={data && <Status tone={OUTCOMES[data.outcome][0]}>{OUTCOMES[data.outcome][1]}</Status>}
      >
        {gate.error && <Problem error={gate.error} retry={() => void gate.refetch()} />}
        {!data && !gate.error && <Skeleton rows={2} />}
        {data && (
          <ul className={css.reasons}>
            {data.reasons.slice(0, MOST_REASONS).map((reason) => (
              <li key={reason}>
                <Text>{reason}</Text>
              </li>
            ))}
            {data.reasons.length > MOST_REASONS && <li>and {whole(data.reasons.length - MOST_REASONS)} more</li>}
            <li className={css.faint}>
              It fails on a score that is clearly worse, and is undecided where scores could not be compared. The API
              and the command line set limits for each score.
            </li>
          </ul>
        )}
      </Section>
    </div>
  );
}
