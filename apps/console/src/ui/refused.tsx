import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answered, api } from '../api/client';
import { whole } from './format';
import { Section } from './list';
import css from './list.module.css';
import { Skeleton, Text, Time } from './parts';

/** Reasons that are shown. */
const MOST = 50;

const NOUNS: Readonly<Record<string, readonly [string, string]>> = {
  run: ['run was', 'runs were'],
  feedback: ['score was', 'scores were'],
  attachment: ['attachment was', 'attachments were'],
  part: ['part of a run was', 'parts of runs were'],
};

interface RefusedProps {
  readonly workspace: string;
  /** One project or experiment; all of the workspace when undefined. */
  readonly session?: string;
}

/** Says how many runs and scores were refused and why; nothing when none were. */
export function RefusedItems({ workspace, session }: RefusedProps) {
  const refused = useQuery({
    queryKey: ['refused', workspace, session],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/refused', { params: { query: { ...(session && { session_id: session }), limit: MOST } }, signal }),
      ),
  });
  if (refused.isPending) return <Skeleton rows={1} />;
  const rows = refused.data?.resources ?? [];
  if (rows.length === 0) return null;
  return (
    <Section title="Refused">
      <ul className={css.refused}>
        {rows.map(({ session_id, session_name, kind, place, reason, count, last_at, item_ids }) => (
          <li key={`${session_id} ${kind} ${place} ${reason}`}>
            <b>
              {whole(count)} {(NOUNS[kind] ?? NOUNS.run!)[count === 1 ? 0 : 1]} refused
            </b>
            {session === undefined && (session_name ?? session_id) !== null && (
              <>
                {' of '}
                {session_id === null ? (
                  <Text>{session_name!}</Text>
                ) : (
                  <Link to="/o/$w/projects/p/$session" params={{ w: workspace, session: session_id }}>
                    <Text>{session_name ?? session_id}</Text>
                  </Link>
                )}
              </>
            )}
            , because <Text>{place === '' ? reason : `${place}: ${reason}`}</Text>, <Time at={last_at} />
            {item_ids.length > 0 && (
              <details>
                <summary>{count > item_ids.length ? `The last ${item_ids.length} ids` : 'Which ones'}</summary>
                {item_ids.map((id) => (
                  <div key={id}>
                    <Text>{id}</Text>
                  </div>
                ))}
              </details>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
