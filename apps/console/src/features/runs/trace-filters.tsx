import { useAddress } from '../../ui/address';
import { ColumnsButton } from '../../ui/columns/list-columns';
import { Filters, Pick, Typed } from '../../ui/form';
import { Button } from '../../ui/parts';
import { SavedViews } from '../../ui/views/saved-views';
import { COLUMNS } from './columns';
import { faultOf, FILTERS } from './filters';
import css from './runs.module.css';

const STATUSES = { '': 'Any status', error: 'Failed', success: 'Succeeded', pending: 'Running' };
const TIMES = {
  ...{ '': 'Any time', '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days' },
  ...{ '30d': 'Last 30 days', '90d': 'Last 90 days' },
};
const KINDS = ['chain', 'llm', 'tool', 'retriever', 'embedding', 'prompt', 'parser'];
const MORE = {
  name: 'Name contains',
  tag: 'Tag',
  metadata: 'Metadata, key=value',
  score: 'Score, correct<0.5',
  thread: 'Thread',
  from: 'From, 2026-01-31T14:30',
  to: 'Before, 2026-01-31T15:00',
} as const;

/** Filters and columns of a list of root runs, all of which stand in the address. */
export function TraceFilters() {
  const { search, change } = useAddress();
  const set =
    (name: string, how: 'step' | 'replace' = 'step') =>
    (value: string) =>
      change({ [name]: value || undefined }, how);
  const more = Object.keys(MORE).filter((name) => search[name]);
  const types = search.type && !KINDS.includes(search.type) ? [...KINDS, search.type] : KINDS;
  return (
    <Filters>
      <Typed label="Text in inputs, outputs, errors" main value={search.q ?? ''} onChange={set('q', 'replace')} />
      <Pick label="Status" value={search.status ?? ''} onChange={set('status')} options={STATUSES} />
      <Pick label="Time" value={search.since ?? ''} onChange={set('since')} options={TIMES} />
      <Pick
        label="Type"
        value={search.type ?? ''}
        onChange={set('type')}
        options={{ '': 'Any type', ...Object.fromEntries(types.map((type) => [type, type])) }}
      />
      <details className={css.menu} open={more.length > 0 || undefined}>
        <summary>More filters{more.length > 0 && ` (${more.length})`}</summary>
        <div>
          {Object.entries(MORE).map(([name, label]) => (
            <Typed key={name} label={label} value={search[name] ?? ''} onChange={set(name, 'replace')} />
          ))}
        </div>
      </details>
      <SavedViews page="traces" />
      <ColumnsButton list="traces" columns={COLUMNS} />
      {FILTERS.some((name) => search[name]) && (
        <Button kind="quiet" onClick={() => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}>
          Drop all filters
        </Button>
      )}
      <span role="status" className={css.quiet}>
        {faultOf(search)}
      </span>
    </Filters>
  );
}
