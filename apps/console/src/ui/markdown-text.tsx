import { type ReactNode, Suspense, useSyncExternalStore } from 'react';
import { late } from './late';
import { Button, LongText } from './parts';

const NAME = 'fairlead.markdown';
const listeners = new Set<() => void>();

const Rendered = late(
  async () => (await import('./rendered')).Rendered,
  ({ text, children }: { text: string; children: ReactNode }) => (
    <>
      {children}
      <LongText>{text}</LongText>
    </>
  ),
);

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
    <Button kind="quiet" title={isRendered ? 'Show texts as they are' : 'Show texts as Markdown'} onClick={turn}>
      {isRendered ? 'Raw' : 'Rendered'}
    </Button>
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
