import { type ReactNode, type SyntheticEvent, useEffect, useId, useLayoutEffect, useRef } from 'react';
import css from './dialog.module.css';
import { mayDiscard } from './dirty';
import { Button, Text } from './parts';

interface DialogProps {
  readonly title: ReactNode;
  /** Without it, nothing but what happens elsewhere closes the dialog. */
  readonly onClose?: () => void;
  /** For a few words. */
  readonly narrow?: boolean;
  readonly children: ReactNode;
}

/** A dialog over the page. Escape closes it; a form that holds what was typed is asked about first. */
export function Dialog({ title, onClose, narrow, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const show = () => {
    if (ref.current?.isConnected && !ref.current.open) ref.current.showModal();
  };
  useEffect(show, []);
  // A dialog that is closed before it goes gives the focus back.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    return () => dialog.close();
  }, []);
  const close = async () => {
    if (onClose && (await mayDiscard(ref.current!))) onClose();
  };
  const cancel = (event: SyntheticEvent) => {
    if (event.target !== ref.current) return;
    event.preventDefault();
    void close();
  };
  // A browser may close a dialog without asking, as at the second Escape: it comes back until the answer is known.
  const closed = (event: SyntheticEvent) => {
    if (event.target !== ref.current) return;
    show();
    void close();
  };
  return (
    <dialog
      ref={ref}
      className={narrow ? `${css.dialog} ${css.narrow}` : css.dialog}
      aria-labelledby={id}
      onCancel={cancel}
      onClose={closed}
    >
      <div className={css.head}>
        <h2 id={id}>{typeof title === 'string' ? <Text>{title}</Text> : title}</h2>
        {onClose && (
          <Button kind="quiet" aria-label="Close" onClick={() => void close()}>
            ✕
          </Button>
        )}
      </div>
      {children}
    </dialog>
  );
}
