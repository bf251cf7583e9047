import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { answered, api, ApiError, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { lateDialog } from '../../ui/late';
import { List } from '../../ui/list';
import { Copy, Text } from '../../ui/parts';
import { useWorkspace } from './data';
import css from './deployments.module.css';
import type { Deployment } from './words';

const OverrideDialog = lateDialog(async () => (await import('./plans')).OverrideDialog);

type Criterion = Schemas['GateCriterion'];

/** Interval (ms) at which a verdict is read again while the revision is held. */
const AGAIN_MS = 5000;

/** The verdict of the gates that hold a revision, and the way past them; nothing while none holds it. */
export function HeldVerdict({
  deployment,
  revision,
  preview,
}: {
  deployment: Deployment;
  revision: string;
  preview: string | null;
}) {
  const [isOverriding, setOverriding] = useState(false);
  const w = useWorkspace();
  const path = { deployment_id: deployment.id, revision_id: revision };
  const { data } = useQuery({
    queryKey: ['deployment', w, deployment.id, 'verdict', revision],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}/revisions/{revision_id}/verdict', { params: { path }, signal }),
      ).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }),
    refetchInterval: AGAIN_MS,
  });
  if (!data?.held) return null;
  const criteria = data.gates.flatMap((one) => one.criteria.map((criterion) => ({ gate: one.gate, ...criterion })));
  return (
    <div className={css.stack}>
      <p className={css.inline}>
        <span>Evidence so far</span>
        <Action scope="admin" onClick={() => setOverriding(true)}>
          Deploy it anyway …
        </Action>
      </p>
      {preview && (
        <p className={css.inline}>
          <span>It answers, with a key, at</span>
          <Text>{preview}</Text>
          <Copy kind="quiet" text={new URL(preview, location.origin).href}>
            Copy
          </Copy>
        </p>
      )}
      <ul>
        {data.reasons.map((reason) => (
          <li key={reason}>
            <Text>{reason}</Text>
          </li>
        ))}
      </ul>
      {criteria.length > 0 && <Criteria of={criteria} />}
      <Suspense>
        {isOverriding && (
          <OverrideDialog deployment={deployment} revision={revision} onClose={() => setOverriding(false)} />
        )}
      </Suspense>
    </div>
  );
}

function Criteria({ of }: { of: readonly (Criterion & { gate: string })[] }) {
  return (
    <List
      label="Limits"
      items={of}
      keyOf={(one) => `${one.gate} ${one.of} ${one.slice} ${one.limit}`}
      columns={[
        { title: 'Gate', kind: 'name', cell: (one) => <Text>{one.gate}</Text> },
        { title: 'Of', cell: ({ of, slice }) => <Text>{slice ? `${of} in ${slice}` : of}</Text> },
        { title: 'Outcome', cell: ({ outcome }) => outcome },
        { title: 'Limit', kind: 'number', cell: ({ threshold }) => shown(threshold) },
        { title: 'Mean', kind: 'number', cell: ({ mean }) => shown(mean) },
        { title: 'Between', kind: 'number', cell: ({ lower, upper }) => `${shown(lower)} and ${shown(upper)}` },
        { title: 'Rows', kind: 'number', cell: ({ rows }) => rows },
      ]}
    />
  );
}

function shown(value: number | null): string {
  return value === null ? '–' : String(Number(value.toPrecision(3)));
}
