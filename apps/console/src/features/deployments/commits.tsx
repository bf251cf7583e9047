import { useQuery } from '@tanstack/react-query';
import { answered, api } from '../../api/client';
import { Problem, Skeleton, Text } from '../../ui/parts';
import { useWorkspace } from './data';
import css from './source-difference.module.css';

interface Compared {
  readonly deployment: string;
  readonly from: string;
  readonly to: string;
}

/** The commits between two revisions of a repository, and the page of the code host that compares them. */
export function Commits({ deployment, from, to }: Compared) {
  const w = useWorkspace();
  const query = useQuery({
    queryKey: ['deployment', w, deployment, 'commits', from, to],
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v2/deployments/{deployment_id}/revisions/{revision_id}/diff/{other_id}/commits', {
          params: { path: { deployment_id: deployment, revision_id: from, other_id: to } },
          signal,
        }),
      ),
    staleTime: Infinity,
    retry: false,
  });
  if (query.error) return <Problem error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton rows={2} />;
  const { commits, more, url } = query.data;
  const count = `${commits.length}${more ? ' or more' : ''} ${commits.length === 1 && !more ? 'commit' : 'commits'}`;
  return (
    <section aria-label="Commits">
      <p className={css.sum}>
        {commits.length === 0 ? 'No commit is new: it goes back' : count}
        {' · '}
        <a href={url} target="_blank" rel="noreferrer noopener">
          Compare at the code host
        </a>
      </p>
      <ul className={css.files}>
        {commits.map(({ sha, author, subject }) => (
          <li key={sha} className={css.file}>
            <code title={sha}>{sha.slice(0, 7)}</code> <Text>{subject ?? ''}</Text>{' '}
            {author && (
              <span className={css.size}>
                <Text>{author}</Text>
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
