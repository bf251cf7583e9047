import { useQueryClient } from '@tanstack/react-query';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Button, Page, useTitle } from '../../ui/parts';
import css from '../../ui/parts.module.css';

/** The page in the place of one that failed. The frame around it stays. */
export function Fault({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const queries = useQueryClient();
  useTitle('Not shown');
  const retry = () => {
    // What the page could not show may be in an answer, which is read again.
    queries.removeQueries({ type: 'inactive' });
    reset();
    void router.invalidate();
  };
  return (
    <Page title="This page cannot be shown">
      <div className={css.problem} role="alert">
        <p>The console failed while it showed this page. Nothing was changed in the service.</p>
        <p className={css.note}>{error instanceof Error ? error.message : String(error)}</p>
        <Button onClick={retry}>Try again</Button>
      </div>
    </Page>
  );
}
