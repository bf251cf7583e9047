import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, api } from '../../api/client';
import { Choice, TextField } from '../form';
import { Button, Problem, Skeleton } from '../parts';
import { takesFocus } from './takes-focus';

const MOST_DATASETS = 100;
const NEW = 'new';
const SHOWN_BY = new Set(['datasets', 'dataset', 'examples']);

interface DatasetChoice {
  /** The fields of a form; undefined until the datasets are known. */
  readonly fields: ReactNode | undefined;
  /** Element in place of the form until then. */
  readonly waiting: ReactNode;
  /** True when examples can be added to what is chosen. */
  readonly isReady: boolean;
  /** The id of the chosen dataset, which is made when it is a new one. */
  readonly take: () => Promise<string>;
  /** Reads anew what shows datasets and examples. */
  readonly refresh: () => Promise<void>;
}

/** A choice among the datasets that a person may add examples to, or of a new one. */
export function useDatasetChoice(): DatasetChoice {
  const { w } = useParams({ strict: false });
  const queries = useQueryClient();
  const datasets = useQuery({
    queryKey: ['datasets', w],
    queryFn: ({ signal }) =>
      answered(api.GET('/api/v1/datasets', { params: { query: { limit: MOST_DATASETS } }, signal })),
  });
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  /** Name of the copy of an uploaded dataset; undefined while none is wanted. */
  const [copy, setCopy] = useState<string>();
  const dataset = chosen ?? datasets.data?.find(({ externally_managed: uploaded }) => !uploaded)?.id ?? NEW;
  const uploaded = datasets.data?.find(({ id, externally_managed }) => id === dataset && externally_managed);
  const options = Object.fromEntries([
    ...(datasets.data ?? []).map(({ id, name: one, externally_managed: uploaded }) => [
      id,
      uploaded ? `${one} (filled by uploads)` : one,
    ]),
    [NEW, 'A new dataset …'],
  ]) as Record<string, string>;
  const fields = datasets.data && (
    <>
      <Choice
        label="Dataset"
        options={options}
        value={dataset}
        onChange={(event) => {
          setChosen(event.target.value);
          setCopy(undefined);
        }}
        ref={takesFocus}
      />
      {uploaded && copy === undefined && (
        <>
          <p role="note">
            Only uploads of experiments change this dataset. Choose one that you write yourself, or a new one.
          </p>
          <Button onClick={() => setCopy(`${uploaded.name} (copy)`)}>Add to a copy of it …</Button>
        </>
      )}
      {copy !== undefined && (
        <TextField
          label="Name of the copy"
          hint="Its examples are copied with their splits and attachments; experiments stay behind."
          value={copy}
          onChange={(event) => setCopy(event.target.value)}
        />
      )}
      {dataset === NEW && (
        <TextField label="Name of the dataset" value={name} onChange={(event) => setName(event.target.value)} />
      )}
    </>
  );
  return {
    fields,
    waiting: datasets.error ? (
      <Problem error={datasets.error} retry={() => void datasets.refetch()} />
    ) : (
      <Skeleton rows={3} />
    ),
    isReady: uploaded ? !!copy?.trim() : dataset !== NEW || name.trim() !== '',
    take: async () => {
      if (dataset !== NEW && !uploaded) return dataset;
      const { id } = uploaded ? await copied(dataset, copy!.trim()) : await made(name.trim());
      // What fails after this is tried again with the dataset that is there now.
      await queries.invalidateQueries({ queryKey: ['datasets', w] });
      setChosen(id);
      setCopy(undefined);
      return id;
    },
    refresh: () => queries.invalidateQueries({ predicate: ({ queryKey: [one] }) => SHOWN_BY.has(String(one)) }),
  };
}

function made(name: string) {
  return answered(api.POST('/api/v1/datasets', { body: { name, data_type: 'kv' } }));
}

/** Copies a dataset as one that people change. */
export function copied(dataset: string, name: string) {
  const params = { path: { dataset_id: dataset } };
  return answered(api.POST('/api/v1/datasets/{dataset_id}/copy', { params, body: { name, as_of: 'latest' } }));
}
