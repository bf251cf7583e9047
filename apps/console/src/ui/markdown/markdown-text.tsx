import { Suspense, useSyncExternalStore } from 'react';
import { late } from '../late';
import { Button, LongText } from '../parts';

const NAME = 'fairlead.markdown';
const listeners = new Set<() => void>();

// The texts stay as they are where this does not arrive, and the switch says so, once.
const Rendered = late(
  async () => (await import('./rendered')).Rendered,
  ({ text }: { text: string }) => <LongText>{text}</LongText>,
);
const Arrival = late(async () => {
  await import('./rendered');
  return () => null;
});

/** True when texts are shown as the Markdown that they hold, as was chosen in this tab. */
function useRendered(): boolean {
  return useSyncExternalStore(listen, () => sessionStorage.getItem(NAME) !== null);
}

/** A button that shows texts as the Markdown that they hold, or as they are, until the tab is closed. */
export function MarkdownSwitch() {
  const isRendered = useRendered();
  const turn = () => {
    if (isRendered) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, 'rendered');
    for (const listener of listeners) listener();
  };
  return (
    <>
      <Button title={isRendered ? 'Show texts as they are' : 'Show texts as Markdown'} onClick={turn}>
        {isRendered ? 'Raw' : 'Rendered'}
      </Button>
      <Suspense>{isRendered && <Arrival />}</Suspense>
    </>
  );
}

/** Text that was uploaded, as it is or as Markdown. */
export function MarkdownText({ children }: { children: string }) {
  const raw = <LongText>{children}</LongText>;
  if (!useRendered()) return raw;
  return (
    <Suspense fallback={raw}>
      <Rendered text={children} />
    </Suspense>
  );
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
