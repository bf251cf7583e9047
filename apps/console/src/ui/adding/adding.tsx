import { Suspense, useState } from 'react';
import { useMay } from '../../api/session';
import { Action } from '../action';
import { late } from '../late';
import { useShortcuts } from '../shortcuts';

const AddFeedback = late(async () => (await import('./add-feedback')).AddFeedback);
const AddExample = late(async () => (await import('./add-example')).AddExample);

interface AddingProps {
  readonly run: string;
  /** Inputs and outputs of the run; without them no example can be made of it here. */
  readonly sent?: { readonly inputs?: unknown; readonly outputs?: unknown };
}

/** Buttons and keys that add feedback on a run, and the run to a dataset. */
export function Adding({ run, sent }: AddingProps) {
  const [open, setOpen] = useState<'feedback' | 'example'>();
  const may = useMay('write');
  const close = () => setOpen(undefined);
  useShortcuts({
    a: may ? () => setOpen('feedback') : undefined,
    d: may && sent ? () => setOpen('example') : undefined,
  });
  return (
    <>
      <Action scope="write" title="a" onClick={() => setOpen('feedback')}>
        Add feedback …
      </Action>
      {sent && (
        <Action scope="write" title="d" onClick={() => setOpen('example')}>
          Add to dataset …
        </Action>
      )}
      <Suspense>
        {open === 'feedback' && <AddFeedback run={run} onClose={close} />}
        {open === 'example' && <AddExample run={run} inputs={sent?.inputs} outputs={sent?.outputs} onClose={close} />}
      </Suspense>
    </>
  );
}
