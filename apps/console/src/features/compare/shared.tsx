import { useParams } from '@tanstack/react-router';
import { ErrorPage } from '../../ui/error-page';
import { Page, Skeleton } from '../../ui/parts';
import { LinkNote } from '../../ui/share';
import css from './compare.module.css';
import { useLink } from './data';
import { CompareView } from './view';

/** Texts that a search of the rows would look into. */
const SEARCHED = ['inputs', 'reference_outputs', 'outputs', 'errors'];

/** A comparison for whoever has a share link to it. */
export function SharedComparePage() {
  const { token } = useParams({ from: '/public/$token/compare' });
  const { data, error, refetch } = useLink(token);
  if (error && !data) {
    return <ErrorPage error={error} thing="shared comparison" retry={() => void refetch()} />;
  }
  if (!data?.dataset_id) {
    return <Page title="Shared comparison">{data ? <p>This link shows a run, no comparison.</p> : <Skeleton />}</Page>;
  }
  return (
    <CompareView
      dataset={data.dataset_id}
      experiments={data.experiments}
      crumb={<span className={css.crumb}>Shared</span>}
      note={<LinkNote hidden={data.hidden} until={data.expires_at} />}
      searchable={!data.hidden.some((member) => SEARCHED.includes(member))}
    />
  );
}
