import { useState } from 'react';
import { answered, api } from '../../../api/client';
import { Dialog } from '../../../ui/dialog';
import { Choice, Form, TextField } from '../../../ui/form';
import { useExampleChange } from './data';

interface SplitDialogProps {
  readonly dataset: string;
  readonly examples: readonly string[];
  /** Splits that are there. */
  readonly splits: readonly string[];
  readonly onClose: () => void;
}

const NEW = '';

/** Puts examples into a split, or takes them out of it. */
export function SplitDialog({ dataset, examples, splits, onClose }: SplitDialogProps) {
  const [chosen, setChosen] = useState(splits[0] ?? NEW);
  const [name, setName] = useState('');
  const [way, setWay] = useState('in');
  const split = chosen === NEW ? name.trim() : chosen;
  const change = useExampleChange<void>(() => {
    const body = { split_name: split, examples: [...examples], remove: way === 'out' };
    return answered(
      api.PUT('/api/v1/datasets/{dataset_id}/splits', { params: { path: { dataset_id: dataset } }, body }),
    );
  }, onClose);
  return (
    <Dialog
      narrow
      title={examples.length === 1 ? 'Split of 1 example' : `Split of ${examples.length} examples`}
      onClose={onClose}
    >
      <Form
        action={way === 'in' ? 'Put into it' : 'Take out of it'}
        onSubmit={() => change.mutate()}
        onCancel={onClose}
        busy={change.isPending}
        disabled={split === ''}
        error={change.error}
      >
        <Choice
          label="Split"
          options={{ ...Object.fromEntries(splits.map((one) => [one, one])), [NEW]: 'A new split …' }}
          value={chosen}
          onChange={(event) => setChosen(event.target.value)}
        />
        {chosen === NEW && (
          <TextField
            label="Name of the split"
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <Choice
          label="What is done"
          options={{ in: 'Put the examples into it', out: 'Take the examples out of it' }}
          value={way}
          onChange={(event) => setWay(event.target.value)}
        />
      </Form>
    </Dialog>
  );
}
