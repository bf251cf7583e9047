import { Link, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { answered, api } from '../../../api/client';
import { printLossless } from '../../../api/lossless';
import { Action } from '../../../ui/action';
import { useAddress } from '../../../ui/address';
import { ask } from '../../../ui/ask';
import { type Column, ColumnsButton } from '../../../ui/columns/list-columns';
import { Filters, Pick, Typed } from '../../../ui/form';
import { whole } from '../../../ui/format';
import { lateDialog } from '../../../ui/late';
import { List, Nothing, Pager } from '../../../ui/list';
import { Button, Problem, Skeleton, Text, Time } from '../../../ui/parts';
import { save } from '../../../ui/save';
import { SavedViews } from '../../../ui/views/saved-views';
import { JsonPreview, Preview } from '../examples';
import css from '../experiments.module.css';
import {
  type Example,
  FILTERS,
  ORDERS,
  PAGE,
  splitsOf,
  useExampleChange,
  useExampleCount,
  useExamples,
  useSplits,
  useVersions,
  versionName,
} from './data';

const ExampleDialog = lateDialog(async () => (await import('./example-dialog')).ExampleDialog);
const SplitDialog = lateDialog(async () => (await import('./split-dialog')).SplitDialog);

interface ExamplesProps {
  readonly dataset: string;
  /** True when uploads of experiments alone change the examples. */
  readonly isUploaded: boolean;
}

/** The examples of a dataset: which ones, in which order and of which version stands in the address. */
export function Examples({ dataset, isUploaded }: ExamplesProps) {
  const { w } = useParams({ from: '/o/$w' });
  const { search, change } = useAddress();
  const examples = useExamples(w, dataset, search);
  const count = useExampleCount(w, dataset, search);
  const splits = useSplits(w, dataset, search.version);
  const versions = useVersions(w, dataset);
  const [ticked, setTicked] = useState<readonly Example[]>([]);
  const [open, setOpen] = useState<Example | 'new' | 'split'>();
  const items = examples.data ?? [];
  const isOld = search.version !== undefined;
  const close = () => setOpen(undefined);
  const isTicked = (one: Example) => ticked.some(({ id }) => id === one.id);
  const tick = (one: Example) => setTicked(isTicked(one) ? ticked.filter(({ id }) => id !== one.id) : [...ticked, one]);
  const ids = ticked.map(({ id }) => id);
  const remove = useExampleChange(
    async () =>
      answered(
        api.POST('/api/v1/platform/datasets/examples/delete', { body: { example_ids: ids, hard_delete: false } }),
      ),
    () => setTicked([]),
  );
  const filter = (name: string, how?: 'replace') => (value: string) =>
    change({ [name]: value || undefined, offset: undefined }, how);
  const confirm = async () => {
    const answer = await ask({
      title: `Delete ${counted(ids.length)}?`,
      text: 'Later versions of the dataset do not have them; earlier ones keep them.',
      answers: { keep: 'Keep them', delete: 'Delete them' },
      danger: true,
    });
    if (answer === 'delete') remove.mutate(undefined);
  };
  const isFixed = isUploaded || isOld;
  const why = isUploaded
    ? 'Only uploads of experiments change this dataset.'
    : isOld
      ? 'An earlier version cannot be changed.'
      : undefined;
  const columns = useColumns({ dataset, isTicked, onTick: tick, onEdit: isFixed ? undefined : setOpen });
  const filtered = FILTERS.some((name) => search[name]);
  return (
    <>
      <Filters>
        <Typed label="Text in inputs or outputs" main value={search.q ?? ''} onChange={filter('q', 'replace')} />
        <Pick
          label="Split"
          value={search.split ?? ''}
          onChange={filter('split')}
          options={Object.fromEntries([
            ['', 'Any split'],
            ...[...new Set([...(splits.data ?? []), ...(search.split ? [search.split] : [])])].map((one) => [one, one]),
          ])}
        />
        <Typed label="Metadata, key=value" value={search.metadata ?? ''} onChange={filter('metadata', 'replace')} />
        <Pick label="Order" value={search.sort ?? ''} onChange={filter('sort')} options={ORDERS} />
        <Pick
          label="Version"
          value={search.version ?? ''}
          onChange={filter('version')}
          options={
            Object.fromEntries([
              ['', 'Newest version'],
              ...(versions.data ?? []).slice(1).map((one) => [one.as_of, versionName(one)]),
              ...(isOld && !versions.data?.some(({ as_of }) => as_of === search.version)
                ? [[search.version, search.version]]
                : []),
            ]) as Record<string, string>
          }
        />
        <SavedViews page="examples" />
        <ColumnsButton list="examples" columns={columns} />
        {filtered && (
          <Button
            kind="quiet"
            onClick={() => change(Object.fromEntries([...FILTERS, 'offset'].map((name) => [name, undefined])))}
          >
            Drop all filters
          </Button>
        )}
      </Filters>
      <div className={css.tools}>
        <Action scope="write" disabled={isFixed} title={why} onClick={() => setOpen('new')}>
          Add an example …
        </Action>
        <Action scope="write" disabled={isFixed || ids.length === 0} title={why} onClick={() => setOpen('split')}>
          Put into a split …
        </Action>
        <Action
          scope="write"
          disabled={isFixed || ids.length === 0 || remove.isPending}
          title={why}
          onClick={() => void confirm()}
        >
          Delete …
        </Action>
        <Button disabled={ids.length === 0} onClick={() => saveExamples(ticked)}>
          Export
        </Button>
        <span className={css.hint} role="status">
          {ids.length > 0 ? `${counted(ids.length)} ticked` : (why ?? '')}
        </span>
        {ids.length > 0 && (
          <Button kind="quiet" onClick={() => setTicked([])}>
            Tick none
          </Button>
        )}
        <span className={css.total}>{count.data !== undefined && counted(count.data)}</span>
      </div>
      {remove.error && <Problem error={remove.error} />}
      {examples.error && <Problem error={examples.error} retry={() => void examples.refetch()} />}
      {!examples.data && !examples.error && <Skeleton />}
      {examples.data && items.length === 0 && (
        <Nothing title={filtered ? 'No example passes these filters.' : 'This dataset has no examples yet.'} />
      )}
      {items.length > 0 && (
        <List
          name="examples"
          label="Examples"
          items={items}
          old={examples.isPlaceholderData}
          columns={columns}
          keyOf={({ id }) => id}
          selected={isTicked}
        />
      )}
      {examples.data && (
        <Pager
          shown={items.length}
          limit={PAGE}
          more={items.length === PAGE && (count.data ?? Infinity) > Number(search.offset ?? 0) + PAGE}
          total={count.data}
        />
      )}
      <Suspense>
        {open === 'split' && (
          <SplitDialog dataset={dataset} examples={ids} splits={splits.data ?? []} onClose={close} />
        )}
        {open !== undefined && open !== 'split' && (
          <ExampleDialog dataset={dataset} example={open === 'new' ? undefined : open} onClose={close} />
        )}
      </Suspense>
    </>
  );
}

interface ColumnsOf {
  readonly dataset: string;
  readonly isTicked: (one: Example) => boolean;
  readonly onTick: (one: Example) => void;
  /** Undefined where examples cannot be changed. */
  readonly onEdit: ((one: Example) => void) | undefined;
}

function useColumns({ dataset, isTicked, onTick, onEdit }: ColumnsOf): Column<Example>[] {
  const { w } = useParams({ from: '/o/$w' });
  return [
    {
      title: 'Tick',
      kind: 'lead',
      cell: (one) => (
        <input
          type="checkbox"
          aria-label={`Tick example ${one.id.slice(0, 8)}`}
          checked={isTicked(one)}
          onChange={() => onTick(one)}
        />
      ),
    },
    {
      title: 'Example',
      kind: 'name',
      cell: ({ id }) => (
        <Link to="/o/$w/datasets/$dataset/e/$example" params={{ w, dataset, example: id }} title={id}>
          <code>{id.slice(0, 8)}</code>
        </Link>
      ),
    },
    { title: 'Input', kind: 'wide', cell: ({ inputs }) => <Preview of={inputs} /> },
    { title: 'Reference', kind: 'wide', cell: ({ outputs }) => <Preview of={outputs} /> },
    {
      title: 'Splits',
      cell: ({ metadata }) => <Text>{splitsOf(metadata).join(', ')}</Text>,
    },
    { title: 'Metadata', kind: 'wide', hidden: true, cell: ({ metadata }) => <JsonPreview of={metadata} /> },
    { title: 'Made', kind: 'number', hidden: true, cell: ({ created_at: at }) => <Time at={at} /> },
    { title: 'Changed', kind: 'number', cell: ({ modified_at: at }) => <Time at={at} /> },
    ...(onEdit
      ? [
          {
            title: 'Actions',
            kind: 'end' as const,
            cell: (one: Example) => (
              <Action
                scope="write"
                kind="quiet"
                aria-label={`Edit example ${one.id.slice(0, 8)}`}
                onClick={() => onEdit(one)}
              >
                Edit …
              </Action>
            ),
          },
        ]
      : []),
  ];
}

function counted(count: number): string {
  return count === 1 ? '1 example' : `${whole(count)} examples`;
}

/** Saves examples as JSON Lines, with all their digits. */
function saveExamples(examples: readonly Example[]): void {
  const lines = examples.map(({ id, inputs, outputs, metadata }) =>
    printLossless({ id, inputs, outputs, metadata }, 0).replaceAll('\n', ' '),
  );
  save('examples.jsonl', `${lines.join('\n')}\n`);
}
