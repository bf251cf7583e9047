import { type ReactNode, Suspense, useState } from 'react';
import { useAddress } from '../address';
import { type Arrangement, parseArrangement } from './columns';
import { lateDialog } from '../late';
import { Button } from '../parts';

const ColumnsDialog = lateDialog(async () => (await import('./columns-dialog')).ColumnsDialog);

/** A column of a list; on a narrow page its title stands before the value. */
export interface Column<T> {
  /** Name in the address; the title when undefined. */
  readonly id?: string;
  readonly title: string;
  readonly cell: (item: T) => ReactNode;
  /**
   * `lead`: stands before the name. `name`: what the row is about. `wide`: takes what is left. `end`: buttons. Leads,
   * names and buttons are always in view.
   */
  readonly kind?: 'lead' | 'name' | 'number' | 'wide' | 'end';
  /** The order of the service that its head chooses. */
  readonly sort?: string;
  /** Explanation of its title. */
  readonly about?: string;
  /** Heading under which it is offered to choose. */
  readonly group?: string;
  /** It is shown only when it is chosen. */
  readonly hidden?: boolean;
}

/** A column of whatever list. */
type AnyColumn = Column<never>;

export function idOf({ id, title }: Pick<AnyColumn, 'id' | 'title'>): string {
  return id ?? title;
}

/** The columns that can be chosen: all but leads, names and buttons. */
function choosable<C extends AnyColumn>(columns: readonly C[]): C[] {
  return columns.filter(({ kind }) => kind !== 'lead' && kind !== 'name' && kind !== 'end');
}

/** The columns that are shown while none are chosen. */
function usualArrangement(columns: readonly AnyColumn[]): Arrangement {
  return {
    shown: choosable(columns)
      .filter(({ hidden }) => !hidden)
      .map(idOf),
    pinned: 0,
  };
}

/** The shown columns in their order, and how many of the first ones stay in view. */
export function arranged<C extends AnyColumn>(columns: readonly C[], chosen = usualArrangement(columns)) {
  const byId = new Map(choosable(columns).map((column) => [idOf(column), column]));
  const found = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []);
  const first = columns.filter(({ kind }) => kind === 'lead' || kind === 'name');
  const pinned = found(chosen.shown.slice(0, chosen.pinned));
  const rest = found(chosen.shown.slice(chosen.pinned));
  const last = columns.filter(({ kind }) => kind === 'end');
  return { all: [...first, ...pinned, ...rest, ...last], fixed: first.length + pinned.length };
}

/** A button that chooses, orders, pins and resizes the columns of a list. */
export function ColumnsButton({ list, columns }: { list: string; columns: readonly AnyColumn[] }) {
  const [open, setOpen] = useState(false);
  const { search } = useAddress();
  const offered = choosable(columns).map((column) => ({ ...column, id: idOf(column) }));
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Columns …
      </Button>
      <Suspense>
        {open && (
          <ColumnsDialog
            list={list}
            columns={offered}
            arrangement={parseArrangement(search.columns) ?? usualArrangement(columns)}
            onClose={() => setOpen(false)}
          />
        )}
      </Suspense>
    </>
  );
}
