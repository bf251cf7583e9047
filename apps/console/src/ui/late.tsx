import { type ComponentType, createElement, type ReactNode, use, useEffect, useState } from 'react';
import { Dialog } from './dialog';
import { forgetTyped, isDirty } from './dirty';
import { Button, Page, Skeleton, useTitle } from './parts';
import css from './parts.module.css';

/** Prefix of the marks, in the storage of the tab, of code for which the document was loaded again. */
const MARK = 'reloaded: ';

type Frame<P> = ComponentType<P & { children: ReactNode }>;
/** A component whose code is loaded when it is first shown, or before that with `preload`, which never rejects. */
type Late<P> = ((props: P) => ReactNode) & { preload: () => Promise<void> };

/** A part of a page whose code is loaded late. What does not arrive leaves the rest of the page as it is. */
export function late<P extends object>(load: () => Promise<ComponentType<P>>, frame: Frame<P> = Part): Late<P> {
  let arrived: ComponentType<P> | undefined;
  let loading: Promise<ComponentType<P> | Error> | undefined;
  // A failure is kept until the document is loaded anew: browsers and style sheets remember failures too.
  const begin = () =>
    (loading ??= load().then(
      (component) => (arrived = component),
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    ));
  function Shown(props: P) {
    const found = arrived ?? use(begin());
    if (!(found instanceof Error)) return createElement(found, props);
    return <Missing error={found} within={(children) => createElement(frame, { ...props, children })} />;
  }
  Shown.preload = () => begin().then(() => undefined);
  return Shown;
}

/** A whole page whose code is loaded late. */
export function latePage<N extends string>(load: () => Promise<Record<N, ComponentType>>, name: N): Late<object> {
  return late(async () => (await load())[name], WholePage);
}

/** A dialog whose code is loaded late; without it, a dialog says so and can be closed. */
export function lateDialog<P extends { onClose: () => void }>(load: () => Promise<ComponentType<P>>): Late<P> {
  return late(load, MissingDialog);
}

function MissingDialog({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Dialog narrow title="This was not loaded" onClose={onClose}>
      {children}
    </Dialog>
  );
}

function Part({ children }: { children: ReactNode }) {
  return <div className={css.missing}>{children}</div>;
}

function WholePage({ children }: { children: ReactNode }) {
  useTitle('Not loaded');
  return <Page title="This page was not loaded">{children}</Page>;
}

/** Loads the document again, once for each piece of code, unless that would lose something; then says what happened. */
function Missing({ error, within }: { error: Error; within: (children: ReactNode) => ReactNode }) {
  const [state, setState] = useState<'looking' | 'away' | 'typed' | 'failed'>('looking');
  const reload = async (always: boolean) => {
    setState('looking');
    // A browser replaces a page that it reloads without a connection by one of its own.
    const isThere = await isReachable();
    if (!isThere) return setState('away');
    if (!always && isDirty()) return setState('typed');
    if (!always && sessionStorage.getItem(MARK + error.message) !== null) return setState('failed');
    sessionStorage.setItem(MARK + error.message, '');
    forgetTyped();
    window.location.reload();
  };
  useEffect(() => void reload(false), [error]);
  if (state === 'looking') return within(<Skeleton />);
  return within(
    <div className={css.problem} role="alert">
      <p>{SENTENCES[state]}</p>
      <p className={css.note}>{error.message}</p>
      <Button onClick={() => void reload(true)}>{state === 'typed' ? 'Reload the page' : 'Try again'}</Button>
    </div>,
  );
}

const SENTENCES = {
  away: 'The service cannot be reached, so a part of this page could not be loaded.',
  typed:
    'A part of this page could not be loaded. Reloading the page loads it, and discards what is typed in the open form.',
  failed: 'A part of this page could not be loaded, although the service can be reached.',
};

/** True when the service answers for a page. */
async function isReachable(): Promise<boolean> {
  try {
    const { status } = await fetch('/', { method: 'HEAD', headers: { accept: 'text/html' }, cache: 'no-store' });
    return status < 500;
  } catch {
    return false;
  }
}
