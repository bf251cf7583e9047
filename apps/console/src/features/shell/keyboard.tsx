import { useNavigate } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { lateDialog } from '../../ui/late';
import { Button } from '../../ui/parts';
import { isForPage, shortcutsOn } from '../../ui/shortcuts';
import { commandOf, type Path } from './keys';
import css from './shell.module.css';

// What they show is not needed before a key is pressed.
const Palette = lateDialog(async () => (await import('./palette')).Palette);
const Shortcuts = lateDialog(async () => (await import('./palette')).Shortcuts);

/** Longest time between the two keys of a shortcut. */
const SEQUENCE_MS = 1500;

/** The shortcuts that work on every page, and a button for each dialog that they open. */
export function Keyboard({ w }: { w: string }) {
  const navigate = useNavigate();
  const [open, setOpen] = useState<'pages' | 'shortcuts'>();
  const begunAt = useRef(-Infinity);
  const close = () => setOpen(undefined);
  const go = (to: Path) => {
    close();
    void navigate({ to, params: { w } });
  };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.repeat || !shortcutsOn() || !isForPage(event)) return;
      const command = commandOf(event, event.timeStamp - begunAt.current < SEQUENCE_MS);
      begunAt.current = command === 'begin' ? event.timeStamp : -Infinity;
      if (command === undefined || command === 'begin') return;
      event.preventDefault();
      if (command === 'filter') document.querySelector<HTMLElement>('[data-slash]')?.focus();
      else if (command === 'pages' || command === 'shortcuts') setOpen(command);
      else go(command);
    };
    // Before what the page does with a key that ends a shortcut of two.
    window.addEventListener('keydown', listen, true);
    return () => window.removeEventListener('keydown', listen, true);
  });
  return (
    <>
      <Button kind="quiet" className={css.goTo} title="Ctrl K or ⌘ K" onClick={() => setOpen('pages')}>
        Go to …
      </Button>
      <Button kind="quiet" aria-label="Keyboard shortcuts" title="?" onClick={() => setOpen('shortcuts')}>
        ?
      </Button>
      <Suspense>
        {open === 'pages' && <Palette w={w} onGo={go} onClose={close} />}
        {open === 'shortcuts' && <Shortcuts onClose={close} />}
      </Suspense>
    </>
  );
}
