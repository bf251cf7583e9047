import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { answered, api } from '../../api/client';
import { useAddress } from '../address';
import { Pick } from '../form';
import { lateDialog } from '../late';
import { Button } from '../parts';
import { changesTo, isAsSaved, type SavedView, viewOf } from './views';

const ViewsDialog = lateDialog(async () => (await import('./views-dialog')).ViewsDialog);
const MOST_VIEWS = 100;

/**
 * Views of a list that the workspace has saved, and a way to save what is shown. The address names the view, and holds
 * what it shows: an address with nothing else shows the view as it is now.
 */
export function SavedViews({ page }: { page: SavedView['page'] }) {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const [open, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ['views', w, page],
    queryFn: ({ signal }) => answered(api.GET('/v1/views', { params: { query: { page, limit: MOST_VIEWS } }, signal })),
  });
  const views = data?.resources ?? [];
  const current = views.find(({ id }) => id === search.view);
  const isEmpty = Object.keys(viewOf(search)).length === 0;
  const applied = useRef(isEmpty ? undefined : search.view);
  useEffect(() => {
    if (!current || !isEmpty || isAsSaved(search, current)) return;
    // What was shown and has been dropped is no view any more.
    if (applied.current === current.id) return change({ view: undefined }, 'replace');
    applied.current = current.id;
    change(changesTo(search, current), 'replace');
  }, [current?.id, isEmpty]);
  const choose = (id: string) => {
    applied.current = id;
    change(
      changesTo(
        search,
        views.find((one) => one.id === id),
      ),
    );
  };
  return (
    <>
      {views.length > 0 && (
        <Pick
          label="View"
          value={current?.id ?? ''}
          onChange={choose}
          options={Object.fromEntries([
            ['', 'No view'],
            ...views.map((one) => [
              one.id,
              one === current && !isAsSaved(search, one) ? `${one.name} (changed)` : one.name,
            ]),
          ])}
        />
      )}
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Views …
      </Button>
      <Suspense>
        {open && <ViewsDialog page={page} views={views} current={current} onClose={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}
