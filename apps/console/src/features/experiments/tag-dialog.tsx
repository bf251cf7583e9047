import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api, readLossless } from '../../api/client';
import { printLossless } from '../../api/lossless';
import { Dialog } from '../../ui/dialog';
import { Form, TextField } from '../../ui/form';
import { type Experiment, useExperimentsChanged } from './data';

interface TagDialogProps {
  readonly chosen: readonly Experiment[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Sets a member of the metadata of experiments, by which lists can be filtered; the others stay as they are. */
export function TagDialog({ chosen, onDone, onClose }: TagDialogProps) {
  const changed = useExperimentsChanged();
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const tag = useMutation({
    mutationFn: async () => {
      for (const { id } of chosen) {
        const found = (await readLossless(`/api/v1/sessions/${encodeURIComponent(id)}?include_stats=false`)) as {
          extra: Readonly<Record<string, unknown>> | null;
        };
        const metadata = { ...(found.extra?.metadata as object | undefined), [name.trim()]: value };
        // Numbers of the other members keep their digits.
        const body = printLossless({ extra: { ...found.extra, metadata } }) as never;
        const params = { path: { session_id: id } };
        const sent = { params, body, bodySerializer: (text: unknown) => text as string };
        await answered(api.PATCH('/api/v1/sessions/{session_id}', sent));
      }
    },
    onSuccess: () => {
      onDone();
      onClose();
    },
    onSettled: changed,
  });
  return (
    <Dialog
      narrow
      title={chosen.length === 1 ? 'Tag 1 experiment' : `Tag ${chosen.length} experiments`}
      onClose={onClose}
    >
      <Form
        action="Tag"
        onSubmit={() => tag.mutate()}
        onCancel={onClose}
        busy={tag.isPending}
        disabled={name.trim() === ''}
        error={tag.error}
      >
        <TextField
          label="Name of the metadata"
          placeholder="release"
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Value"
          placeholder="2026-11"
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
      </Form>
    </Dialog>
  );
}
