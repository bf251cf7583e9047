import { Link, useParams } from '@tanstack/react-router';
import type { Comparison } from '../../api/client';
import { printLossless } from '../../api/lossless';
import { Changes, type MemberChange } from '../../ui/changes';
import { whole } from '../../ui/format';
import { Section } from '../../ui/list';
import { Problem, Skeleton, Text } from '../../ui/parts';
import css from './compare.module.css';
import { type ExperimentFacts, useExperimentFacts } from './data';
import { members } from './difference';

interface WhatChangedProps {
  readonly comparison: Comparison;
  readonly candidate: Comparison['experiments'][number];
}

/** In which metadata, description and rows a candidate differs from the baseline. */
export function WhatChanged({ comparison, candidate }: WhatChangedProps) {
  const { w } = useParams({ from: '/o/$w' });
  const { baseline, experiments, keys } = comparison;
  const before = useExperimentFacts(baseline);
  const after = useExperimentFacts(candidate.id);
  const error = before.error ?? after.error;
  const counts = keys[0]?.results.find(({ experiment }) => experiment === candidate.id)?.counts;
  const changes = before.data && after.data && changesOf(before.data, after.data);
  const deployment = after.data && metadataOf(after.data).deployment_id;
  const base = experiments.find(({ id }) => id === baseline)?.name ?? '';
  return (
    <div className={css.side}>
      <Section title="What changed">
        <p className={css.faint}>
          From <Text title={base}>{base}</Text> to <Text title={candidate.name}>{candidate.name}</Text>
        </p>
        {error && <Problem error={error} retry={() => void Promise.all([before.refetch(), after.refetch()])} />}
        {!changes && !error && <Skeleton rows={3} />}
        {changes && <Changes changes={changes.changed} none="Metadata and description are the same." />}
        {changes && changes.same > 0 && changes.changed.length > 0 && (
          <p className={css.faint}>{changes.same === 1 ? '1 member is' : `${changes.same} members are`} the same</p>
        )}
        {counts && (counts.missing > 0 || counts.extra > 0) && (
          <p>
            {whole(counts.missing)} rows only in the baseline, {whole(counts.extra)} only here
          </p>
        )}
        {typeof deployment === 'string' && (
          <p>
            <Link
              to="/o/$w/host/deployments/$deployment"
              params={{ w, deployment }}
              search={{ tab: 'revisions' } as never}
            >
              Revisions of the deployment that it ran on
            </Link>
          </p>
        )}
      </Section>
    </div>
  );
}

/** Differences between two experiments, each member by its path, and the number of members that are the same. */
function changesOf(before: ExperimentFacts, after: ExperimentFacts): { changed: MemberChange[]; same: number } {
  const facts = (of: ExperimentFacts) => ({ description: of.description ?? undefined, metadata: metadataOf(of) });
  const { changed, same } = members(facts(before), facts(after));
  return {
    changed: changed.map(({ path, before: was, after: is }) => {
      const [one, other] = [text(was), text(is)];
      // A number and the same number as text look alike only without quotation marks.
      const alike = one === other;
      return { member: path, before: alike ? json(was) : one, after: alike ? json(is) : other };
    }),
    same,
  };
}

function metadataOf({ extra }: ExperimentFacts): Readonly<Record<string, unknown>> {
  const metadata = (extra as { metadata?: unknown } | null)?.metadata;
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : json(value);
}

function json(value: unknown): string {
  return printLossless(value, 0).replaceAll(/\n/g, ' ');
}
