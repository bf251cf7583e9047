import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useRef } from 'react';
import { merged, useAddress } from './address';
import { parseArrangement, useWidths } from './columns/columns';
import { plain } from './format';
import { arranged, type Column, idOf } from './columns/list-columns';
import { Further, Head } from './columns/list-head';
import css from './list.module.css';
import { Button } from './parts';

interface ListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (item: T) => string;
  /** Renders an element below the row of an item; most have none. */
  readonly below?: (item: T) => ReactNode;
  /** While other items are being fetched. */
  readonly old?: boolean;
  /** True for items that are ticked. */
  readonly selected?: (item: T) => boolean;
  /** Order of the list while the address names none, such as `-start_time`. */
  readonly order?: string;
  /** Name under which a browser keeps the widths of the columns, which can be chosen then. */
  readonly name?: string;
}

/** A table; cards on a narrow page. */
export function List<T>({ label, items, columns, keyOf, below, old, selected, order, name }: ListProps<T>) {
  const { search } = useAddress();
  const widths = useWidths(name);
  const chosen = name === undefined ? undefined : parseArrangement(search.columns);
  const { all, fixed } = arranged(columns, chosen);
  const scroller = useRef<HTMLDivElement>(null);
  const place = ({ kind }: Column<T>, at: number) =>
    at < fixed
      ? { 'data-pinned': true, style: { left: `var(--left-${at})` } }
      : kind === 'end'
        ? { 'data-end': true }
        : {};
  const width = (column: Column<T>) => {
    const pixels = widths[idOf(column)];
    return pixels === undefined ? undefined : { width: pixels, minWidth: pixels, maxWidth: pixels };
  };
  return (
    <div className={css.frame}>
      <div ref={scroller} className={css.scroll} tabIndex={0} role="region" aria-label={label} aria-busy={old}>
        <table className={css.table}>
          <thead>
            <tr>
              {all.map((column, at) => {
                const { style, ...pinned } = place(column, at);
                return (
                  <Head
                    key={idOf(column)}
                    column={column}
                    order={order}
                    list={name}
                    style={{ ...style, ...width(column) }}
                    {...pinned}
                  />
                );
              })}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => {
              const more = below?.(item);
              return (
                <Fragment key={keyOf(item)}>
                  <tr className={more ? css.opened : undefined} aria-selected={selected?.(item)}>
                    {all.map((column, at) => {
                      const { title, kind, cell } = column;
                      const { style, ...pinned } = place(column, at);
                      return (
                        <td
                          key={idOf(column)}
                          className={kind && css[kind]}
                          style={{ ...style, ...width(column) }}
                          data-label={kind === 'number' || kind === 'wide' || !kind ? plain(title) : undefined}
                          data-cut={widths[idOf(column)] !== undefined || undefined}
                          {...pinned}
                        >
                          {cell(item)}
                        </td>
                      );
                    })}
                  </tr>
                  {more && (
                    <tr className={css.below}>
                      <td colSpan={all.length}>{more}</td>
                    </tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      <Further scroller={scroller} />
    </div>
  );
}

/** Links beside each other, of which one leads to what is shown. */
export function Links({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav className={css.tabs} aria-label={label}>
      {children}
    </nav>
  );
}

/** Tabs that stand in the address as `?tab=`; the first one is shown without. */
export function Tabs({ label, tabs, current }: { label: string; tabs: Record<string, string>; current: string }) {
  const [first] = Object.keys(tabs);
  return (
    <Links label={label}>
      {Object.entries(tabs).map(([tab, title]) => (
        <Link
          key={tab}
          to="."
          search={(() => ({ tab: tab === first ? undefined : tab })) as never}
          activeOptions={{ exact: true }}
          aria-current={tab === current ? 'page' : undefined}
        >
          {title}
        </Link>
      ))}
    </Links>
  );
}

/** Goes through the pages of a list by `offset` in the address. */
export function Pager({ shown, limit, more, total }: { shown: number; limit: number; more: boolean; total?: number }) {
  const { search } = useAddress();
  const offset = Number(search.offset ?? 0) || 0;
  if (offset === 0 && !more) return null;
  const to = (start: number) => merged({ offset: start > 0 ? String(start) : undefined });
  return (
    <nav className={css.pager} aria-label="Pages of the list">
      <span>
        {offset + 1}–{offset + shown}
        {total !== undefined && ` of ${total.toLocaleString('en')}`}
      </span>
      {offset > 0 && (
        <Link to="." search={to(Math.max(0, offset - limit))}>
          Previous
        </Link>
      )}
      {more && (
        <Link to="." search={to(offset + shown)}>
          Next
        </Link>
      )}
    </nav>
  );
}

/** Fetches what follows in a list that grows. */
export function More({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown };
}) {
  if (!query.hasNextPage) return null;
  return (
    <div className={css.more}>
      <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {query.isFetchingNextPage ? 'Loading …' : 'Show older'}
      </Button>
    </div>
  );
}

/** Names and values; what has no value is left out. */
export function Facts({ facts }: { facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className={css.facts}>
      {Object.entries(facts)
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Element in place of a list without items. */
export function Nothing({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className={css.nothing}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** A part of a page with a heading. */
export function Section({ title, aside, children }: { title: ReactNode; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={css.section}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
