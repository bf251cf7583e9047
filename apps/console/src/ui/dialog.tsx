import { type ReactNode, useEffect, useId, useRef } from 'react';
import css from './dialog.module.css';
import { Button, Text } from './parts';

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog over the page; Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (!ref.current!.open) ref.current!.showModal();
  }, []);
  return (
    <dialog ref={ref} className={css.dialog} aria-labelledby={id} onClose={onClose}>
      <div className={css.head}>
        <h2 id={id}>{typeof title === 'string' ? <Text>{title}</Text> : title}</h2>
        <Button kind="quiet" aria-label="Close" onClick={onClose}>
          ✕
        </Button>
      </div>
      {children}
    </dialog>
  );
}
