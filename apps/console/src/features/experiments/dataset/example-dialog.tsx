import { useState } from 'react';
import { answered, api } from '../../../api/client';
import { printLossless } from '../../../api/lossless';
import { Dialog } from '../../../ui/dialog';
import { Form, TextArea, TextField } from '../../../ui/form';
import { type Example, splitsOf, useExampleChange } from './data';

interface ExampleDialogProps {
  readonly dataset: string;
  /** The example that is edited; undefined for a new one. */
  readonly example: Example | undefined;
  readonly onClose: () => void;
}

/** Adds an example, or changes one. What was typed is sent as it is: numbers keep their digits. */
export function ExampleDialog({ dataset, example, onClose }: ExampleDialogProps) {
  const [input, setInput] = useState(() => printLossless(example?.inputs ?? {}));
  const [reference, setReference] = useState(() => printLossless(example?.outputs ?? {}));
  const [metadata, setMetadata] = useState(() => printLossless(withoutSplits(example?.metadata)));
  const [splits, setSplits] = useState(() => splitsOf(example?.metadata).join(', '));
  const fault = [input, reference, metadata].map(faultOf).find((one) => one !== undefined);
  const save = useExampleChange<void>(() => {
    const split = splits.split(',').flatMap((one) => one.trim() || []);
    const members = [
      ...(example ? [] : [`"dataset_id":${JSON.stringify(dataset)}`]),
      ...[`"inputs":${input}`, `"outputs":${reference}`, `"metadata":${metadata}`],
      `"split":${JSON.stringify(split.length > 0 ? split : ['base'])}`,
    ];
    const sent = { body: `{${members.join()}}` as never, bodySerializer: (text: unknown) => text as string };
    if (!example) return answered(api.POST('/api/v1/examples', sent));
    return answered(
      api.PATCH('/api/v1/examples/{example_id}', { params: { path: { example_id: example.id } }, ...sent }),
    );
  }, onClose);
  return (
    <Dialog title={example ? 'Edit an example' : 'Add an example'} onClose={onClose}>
      <Form
        action={example ? 'Save' : 'Add'}
        onSubmit={() => save.mutate()}
        onCancel={onClose}
        busy={save.isPending}
        disabled={fault !== undefined}
        error={save.error}
      >
        <TextArea label="Input" value={input} onChange={(event) => setInput(event.target.value)} />
        <TextArea label="Reference output" value={reference} onChange={(event) => setReference(event.target.value)} />
        <TextArea
          label="Metadata"
          hint={fault}
          value={metadata}
          onChange={(event) => setMetadata(event.target.value)}
        />
        <TextField
          label="Splits, separated by commas"
          placeholder="base"
          value={splits}
          onChange={(event) => setSplits(event.target.value)}
        />
      </Form>
    </Dialog>
  );
}

function withoutSplits(metadata: unknown): Record<string, unknown> {
  const members = Object.entries((metadata ?? {}) as Record<string, unknown>);
  return Object.fromEntries(members.filter(([name]) => name !== 'dataset_split'));
}

function faultOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {
    // It is not written to its end.
  }
  return 'Each of the three is a JSON object, such as {"answer": "yes"}.';
}
