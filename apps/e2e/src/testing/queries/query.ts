/** A query, which is plain JSON, so that one that failed can be kept in a file. */

export type Literal = string | number | boolean | null;

/** An expression of the filter language. */
export type Filter =
  | { readonly call: 'and' | 'or' | 'not'; readonly of: readonly Filter[] }
  | {
      readonly call: 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'in';
      readonly field: string;
      readonly value: Literal | readonly Literal[];
    }
  | { readonly call: 'has'; readonly field: string; readonly text: string }
  | { readonly call: 'search'; readonly text: string };

export interface Page {
  readonly offset: number;
  readonly limit: number;
  /** All pages from this one on, one after the other. */
  readonly toEnd?: boolean;
}

/** Pages that follow one another; `then` is the size of every second one. */
interface Pages {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly then?: number;
}

/** Runs; sessions and runs are named by their places. */
interface RunSelection {
  readonly sessions?: readonly number[];
  readonly ids?: readonly number[];
  readonly trace?: number;
  readonly parentRun?: number;
  readonly type?: string;
  readonly error?: boolean;
  readonly isRoot?: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly filter?: Filter;
  readonly searchFilter?: Filter;
  readonly traceFilter?: Filter;
  readonly treeFilter?: Filter;
}

export type Query =
  | ({ readonly of: 'runs' } & Pages & RunSelection)
  | ({ readonly of: 'runs v2' } & Pages & RunSelection)
  | ({ readonly of: 'stats' } & RunSelection)
  | ({
      readonly of: 'sessions';
      readonly filter?: Filter;
      readonly contains?: string;
      readonly metadata?: Readonly<Record<string, Literal>>;
      readonly free?: boolean;
      readonly sort: (typeof SESSION_SORTS)[number];
      readonly key: string;
      readonly descending: boolean;
    } & Page)
  | ({
      readonly of: 'examples';
      readonly filter?: Filter;
      readonly texts?: readonly string[];
      readonly metadata?: Readonly<Record<string, Literal>>;
      readonly splits?: readonly string[];
      readonly order: 'recent' | 'recently_created' | 'id';
      readonly descending?: boolean;
    } & Page)
  | ({
      readonly of: 'feedback';
      readonly sessions?: readonly number[];
      readonly runs?: readonly number[];
      readonly keys?: readonly string[];
      readonly sources?: readonly string[];
      readonly hasComment?: boolean;
      readonly hasScore?: boolean;
      readonly level?: 'run' | 'session';
      readonly from?: string;
      readonly to?: string;
    } & Page)
  | ({
      readonly of: 'experiments';
      readonly text?: string;
      /** Places among the two datasets: that of the examples, and that of the uploads. */
      readonly datasets?: readonly number[];
      readonly metadata?: Readonly<Record<string, Literal>>;
      readonly scores?: readonly ScoreBound[];
      readonly sort?: string;
      readonly descending: boolean;
    } & Pick<Pages, 'limit' | 'then'>)
  | ({ readonly of: 'view'; readonly experiments: readonly number[] } & ViewSelection & Page)
  | ({ readonly of: 'comparison' } & ComparisonSelection & Page)
  | ({ readonly of: 'export'; readonly format?: 'csv' | 'jsonl' } & ComparisonSelection & Page);

export interface ScoreBound {
  readonly key: string;
  readonly operator: '>=' | '<=' | '>' | '<' | '=';
  readonly bound: number;
}

interface ComparisonSelection {
  readonly experiments: readonly number[];
  readonly rows?: readonly RowFilter[];
  readonly text?: string;
  readonly sort?: RowSort;
}

interface ViewSelection {
  /** By the place of the experiment among those that are compared. */
  readonly filters: readonly (readonly Filter[])[];
  readonly sortKey?: string;
  readonly ascending: boolean;
}

/** `place` is that of the experiment among those that are compared, from 1 on: 0 is the baseline. */
interface RowFilter {
  readonly place: number;
  readonly key: 'quality' | 'pass';
  readonly kinds: readonly string[];
}

export type RowSort =
  | 'regression'
  | 'improvement'
  | 'row'
  | { readonly place: number; readonly key: 'quality' | 'pass' }
  | { readonly slowest: number };

export const SESSION_SORTS = ['name', 'start_time', 'runs_count', 'latency_p50', 'error_rate', 'feedback'] as const;
export const EXPERIMENT_SORTS = [
  ...['start_time', 'name', 'dataset_name', 'run_count', 'latency_p50', 'latency_p99', 'error_rate'],
  ...[
    'score:quality',
    'score:pass',
    'score:label',
    'metadata:n',
    'metadata:flag',
    'metadata:nothing',
    'metadata:missing',
  ],
] as const;
export const ROW_KINDS = ['better', 'worse', 'same', 'missing', 'extra', 'errored', 'unscored', 'changed'] as const;

/** The expression as text. */
export function written(filter: Filter): string {
  if ('of' in filter) return `${filter.call}(${filter.of.map(written).join(', ')})`;
  if (filter.call === 'search') return `search(${JSON.stringify(filter.text)})`;
  if (filter.call === 'has') return `has(${filter.field}, ${JSON.stringify(filter.text)})`;
  return `${filter.call}(${filter.field}, ${JSON.stringify(filter.value)})`;
}
