import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Action } from '../../../ui/action';
import { copied } from '../../../ui/adding/dataset-choice';
import { Dialog } from '../../../ui/dialog';
import { Form, TextField } from '../../../ui/form';

interface CopyDatasetProps {
  readonly dataset: string;
  readonly name: string;
}

/** Copies a dataset under a name of its own, and goes to the copy. */
export function CopyDataset({ dataset, name }: CopyDatasetProps) {
  const { w } = useParams({ from: '/o/$w' });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [wanted, setWanted] = useState<string>();
  const copy = useMutation({
    mutationFn: () => copied(dataset, wanted!.trim()),
    onSuccess: async ({ id }) => {
      setWanted(undefined);
      await queries.invalidateQueries({ predicate: ({ queryKey: [one] }) => one === 'datasets' });
      await navigate({ to: '/o/$w/datasets/$dataset', params: { w, dataset: id }, search: { tab: 'examples' } });
    },
  });
  return (
    <>
      <Action scope="write" onClick={() => setWanted(`${name} (copy)`)}>
        Copy …
      </Action>
      {wanted !== undefined && (
        <Dialog narrow title="Copy the dataset" onClose={() => setWanted(undefined)}>
          <Form
            action="Copy"
            onSubmit={() => copy.mutate()}
            onCancel={() => setWanted(undefined)}
            busy={copy.isPending}
            disabled={wanted.trim() === ''}
            error={copy.error}
          >
            <p>Its examples are copied with their splits and attachments; experiments and versions stay behind.</p>
            <TextField
              label="Name of the copy"
              value={wanted}
              maxLength={512}
              onChange={(event) => setWanted(event.target.value)}
            />
          </Form>
        </Dialog>
      )}
    </>
  );
}
