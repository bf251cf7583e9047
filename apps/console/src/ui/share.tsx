import { Suspense, useState } from 'react';
import { Action } from './action';
import { day, type Hideable, hides, type Shareable } from './adding/share-parts';
import { late } from './late';
import css from './share.module.css';

const ShareDialog = late(async () => (await import('./adding/share-dialog')).ShareDialog);

/** A button that makes a link to a comparison or a run for people without a key. */
export function Share({ what }: { what: Shareable }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Action scope="write" onClick={() => setOpen(true)}>
        Share …
      </Action>
      <Suspense>{open && <ShareDialog what={what} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}

/** Hidden parts and end of a link, for its readers. */
export function LinkNote({ hidden, until }: { hidden: readonly Hideable[]; until: string }) {
  return (
    <p className={css.note}>
      Open until {day(until)}; {hides(hidden)}.
    </p>
  );
}
