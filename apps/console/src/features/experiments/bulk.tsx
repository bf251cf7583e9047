import { useMutation } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { answered, api } from '../../api/client';
import { Action } from '../../ui/action';
import { ask } from '../../ui/ask';
import { lateDialog } from '../../ui/late';
import { Button, Problem } from '../../ui/parts';
import { save } from '../../ui/save';
import { csvOf } from './csv';
import { type Experiment, useExperimentsChanged } from './data';

const TagDialog = lateDialog(async () => (await import('./tag-dialog')).TagDialog);
interface BulkProps {
  readonly chosen: readonly Experiment[];
  readonly onDone: () => void;
}

/** Buttons that tag, export and delete all ticked experiments. */
export function BulkActions({ chosen, onDone }: BulkProps) {
  const [isTagging, setTagging] = useState(false);
  const changed = useExperimentsChanged();
  const remove = useMutation({
    mutationFn: async () => {
      // One after the other: what was refused stays ticked, and nothing behind it is tried.
      for (const { id } of chosen) {
        await answered(api.DELETE('/api/v1/sessions/{session_id}', { params: { path: { session_id: id } } }));
      }
    },
    onSuccess: onDone,
    onSettled: changed,
  });
  const confirm = async () => {
    const [one] = chosen;
    const answer = await ask({
      title: chosen.length === 1 ? `Delete ${one!.name}?` : `Delete ${chosen.length} experiments?`,
      text: 'Their runs and feedback go with them, and links to them show nothing any more.',
      answers: { keep: 'Keep them', delete: 'Delete them' },
      danger: true,
    });
    if (answer === 'delete') remove.mutate();
  };
  return (
    <>
      <Action scope="write" onClick={() => setTagging(true)}>
        Tag …
      </Action>
      <Button onClick={() => save('experiments.csv', csvOf(chosen))}>Export</Button>
      <Action scope="write" disabled={remove.isPending} onClick={() => void confirm()}>
        {remove.isPending ? 'Deleting …' : 'Delete …'}
      </Action>
      {remove.error && <Problem error={remove.error} />}
      <Suspense>
        {isTagging && <TagDialog chosen={chosen} onDone={onDone} onClose={() => setTagging(false)} />}
      </Suspense>
    </>
  );
}
