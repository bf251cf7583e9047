import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answered, api } from '../../api/client';
import { printLossless } from '../../api/lossless';
import { Dialog } from '../dialog';
import { Form, TextArea } from '../form';
import { Added } from './added';
import { useDatasetChoice } from './dataset-choice';

interface AddExampleProps {
  readonly run: string;
  readonly inputs: unknown;
  /** Outputs of the run: the reference of the example, which a person can correct. */
  readonly outputs: unknown;
  readonly onClose: () => void;
}

/** Makes an example of a run. */
export function AddExample({ run, inputs, outputs, onClose }: AddExampleProps) {
  const choice = useDatasetChoice();
  const [input, setInput] = useState(() => printLossless(inputs ?? {}));
  const [reference, setReference] = useState(() => printLossless(membersOf(outputs)));
  const fault = faultOf(input) ?? faultOf(reference);
  const add = useMutation({
    mutationFn: async () => {
      const id = await choice.take();
      // What was typed is sent as it is: numbers keep their digits.
      const ids = JSON.stringify({ dataset_id: id, source_run_id: run }).slice(1, -1);
      const body = `{${ids},"inputs":${input},"outputs":${reference}}` as never;
      await answered(api.POST('/api/v1/examples', { body, bodySerializer: (text) => text as unknown as string }));
      return id;
    },
    onSuccess: choice.refresh,
  });
  if (add.data !== undefined) {
    return (
      <Added dataset={add.data} onClose={onClose}>
        The run is an example now.
      </Added>
    );
  }
  return (
    <Dialog title="Add to a dataset" onClose={onClose}>
      {choice.fields === undefined && choice.waiting}
      {choice.fields !== undefined && (
        <Form
          action="Add"
          onSubmit={() => add.mutate()}
          onCancel={onClose}
          busy={add.isPending}
          disabled={!choice.isReady || fault !== undefined}
          error={add.error}
        >
          {choice.fields}
          <TextArea label="Input" value={input} onChange={(event) => setInput(event.target.value)} />
          <TextArea
            label="Reference output"
            hint={fault ?? 'The output of the run; correct it when it should have been another one.'}
            value={reference}
            onChange={(event) => setReference(event.target.value)}
          />
        </Form>
      )}
    </Dialog>
  );
}

/** Outputs as an example can have them: an object. */
function membersOf(outputs: unknown): unknown {
  if (outputs === null || outputs === undefined) return {};
  return typeof outputs === 'object' && !Array.isArray(outputs) ? outputs : { output: outputs };
}

function faultOf(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {
    // It is not written to its end.
  }
  return 'Input and reference have to be JSON objects, such as {"answer": "yes"}.';
}
