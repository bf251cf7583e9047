import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { answered, api } from '../../api/client';
import { printLossless } from '../../api/lossless';
import { Dialog } from '../dialog';
import { Choice, Form, TextArea, TextField } from '../form';
import { Problem, Skeleton } from '../parts';
import { takesFocus } from './takes-focus';

const MOST_DATASETS = 100;
const NEW = 'new';
const SHOWN_BY = new Set(['datasets', 'dataset', 'examples']);

interface AddExampleProps {
  readonly run: string;
  readonly inputs: unknown;
  /** Outputs of the run: the reference of the example, which a person can correct. */
  readonly outputs: unknown;
  readonly onClose: () => void;
}

/** Makes an example of a run. */
export function AddExample({ run, inputs, outputs, onClose }: AddExampleProps) {
  const { w } = useParams({ strict: false });
  const queries = useQueryClient();
  const datasets = useQuery({
    queryKey: ['datasets', w],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/datasets', { params: { query: { limit: MOST_DATASETS } }, signal })),
  });
  const own = datasets.data?.filter(({ externally_managed: uploaded }) => !uploaded) ?? [];
  const [chosen, setChosen] = useState<string>();
  const dataset = chosen ?? own[0]?.id ?? NEW;
  const [name, setName] = useState('');
  const [input, setInput] = useState(() => printLossless(inputs ?? {}));
  const [reference, setReference] = useState(() => printLossless(membersOf(outputs)));
  const fault = faultOf(input) ?? faultOf(reference);
  const isUploaded = datasets.data?.some(({ id, externally_managed: uploaded }) => id === dataset && uploaded) ?? false;
  const add = useMutation({
    mutationFn: async () => {
      let id = dataset;
      if (id === NEW)
        ({ id } = await answered(api.POST('/api/v1/datasets', { body: { name: name.trim(), data_type: 'kv' } })));
      // What was typed is sent as it is: numbers keep their digits.
      const ids = JSON.stringify({ dataset_id: id, source_run_id: run }).slice(1, -1);
      const body = `{${ids},"inputs":${input},"outputs":${reference}}` as never;
      await answered(api.POST('/api/v1/examples', { body, bodySerializer: (text) => text as unknown as string }));
      return id;
    },
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey: [one] }) => SHOWN_BY.has(String(one)) }),
  });
  if (add.data !== undefined) {
    return (
      <Dialog title="Added" onClose={onClose} narrow>
        <p role="status">
          The run is an example now.{' '}
          <Link to="/o/$w/datasets/$dataset" params={{ w: w!, dataset: add.data }} search={{ tab: 'examples' }}>
            Show the dataset
          </Link>
        </p>
      </Dialog>
    );
  }
  const options = Object.fromEntries([
    ...(datasets.data ?? []).map(({ id, name: one, externally_managed: uploaded }) => [
      id,
      uploaded ? `${one} (filled by uploads)` : one,
    ]),
    [NEW, 'A new dataset …'],
  ]) as Record<string, string>;
  return (
    <Dialog title="Add to a dataset" onClose={onClose}>
      {datasets.error && <Problem error={datasets.error} retry={() => void datasets.refetch()} />}
      {!datasets.data && !datasets.error && <Skeleton rows={3} />}
      {datasets.data && (
        <Form
          action="Add"
          onSubmit={() => add.mutate()}
          onCancel={onClose}
          busy={add.isPending}
          disabled={isUploaded || fault !== undefined || (dataset === NEW && name.trim() === '')}
          error={add.error}
        >
          <Choice
            label="Dataset"
            options={options}
            value={dataset}
            onChange={(event) => setChosen(event.target.value)}
            ref={takesFocus}
          />
          {isUploaded && (
            <p role="note">
              Only uploads of experiments change this dataset. Choose one that you write yourself, or a new one.
            </p>
          )}
          {dataset === NEW && (
            <TextField label="Name of the dataset" value={name} onChange={(event) => setName(event.target.value)} />
          )}
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
