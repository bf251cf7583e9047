import { useQuery } from '@tanstack/react-query';
import { answered, api } from '../api/client';
import { whole } from './format';
import { Text, Time } from './parts';

const NOUNS: Readonly<Record<string, readonly [string, string]>> = {
  run: ['run was', 'runs were'],
  feedback: ['score was', 'scores were'],
  attachment: ['attachment was', 'attachments were'],
  part: ['part of a run was', 'parts of runs were'],
};

/** Says how many runs and scores of a project were refused and why; nothing when none were. */
export function RefusedItems({ workspace, session }: { workspace: string; session: string }) {
  const refused = useQuery({
    queryKey: ['refused', workspace, session],
    queryFn: ({ signal }) =>
      answered(api.GET('/v1/refused', { params: { query: { session_id: session, limit: 50 } }, signal })),
  });
  const rows = refused.data?.resources ?? [];
  if (rows.length === 0) return null;
  return (
    <section aria-label="Refused">
      <ul>
        {rows.map(({ kind, place, reason, count, last_at, item_ids }) => (
          <li key={`${kind} ${place} ${reason}`} title={item_ids.join('\n')}>
            <b>
              {whole(count)} {(NOUNS[kind] ?? NOUNS.run!)[count === 1 ? 0 : 1]} refused
            </b>
            , because <Text>{place === '' ? reason : `${place}: ${reason}`}</Text> (<Time at={last_at} />)
          </li>
        ))}
      </ul>
    </section>
  );
}
