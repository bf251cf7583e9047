import { Link } from '@tanstack/react-router';
import { type CSSProperties, type PointerEvent, type RefObject, useLayoutEffect, useState } from 'react';
import { merged, useAddress } from '../address';
import { setWidth } from './columns';
import { middle, plain } from '../format';
import { type Column, idOf } from './list-columns';
import css from '../list.module.css';
import { Text, Unseen } from '../parts';

const PINNED = 'thead [data-pinned], [role=columnheader][data-pinned]';
/** Characters of the title of a column. */
const MOST_TITLE = 24;

interface HeadProps<T> {
  readonly column: Column<T>;
  readonly order: string | undefined;
  /** The list whose columns can be made wider. */
  readonly list: string | undefined;
  readonly style: CSSProperties;
}

/** The head of a column; one that sorts does so largest first, then smallest first, then not. */
export function Head<T>({ column, order, list, style, ...pinned }: HeadProps<T>) {
  const { search } = useAddress();
  const { title, kind, sort, about } = column;
  const now = search.sort ?? order;
  const state =
    sort === undefined ? undefined : now === `-${sort}` ? 'descending' : now === sort ? 'ascending' : undefined;
  const next = state === undefined ? `-${sort}` : state === 'descending' ? sort : undefined;
  const text = <Text>{middle(title, MOST_TITLE)}</Text>;
  const hint = about ?? (title.length > MOST_TITLE ? title : undefined);
  return (
    <th className={kind && css[kind]} style={style} aria-sort={state} title={hint && plain(hint)} {...pinned}>
      {sort === undefined && (kind === 'end' || kind === 'lead' ? <Unseen>{title}</Unseen> : text)}
      {sort !== undefined && (
        <Link to="." search={merged({ sort: next })} resetScroll={false}>
          {text}
          <span aria-hidden="true">{state === undefined ? '' : state === 'descending' ? ' ↓' : ' ↑'}</span>
        </Link>
      )}
      {list !== undefined && kind !== 'end' && kind !== 'lead' && <Handle list={list} column={idOf(column)} />}
    </th>
  );
}

/** The edge of a head, by which its column is made wider; a double click makes it as wide as it usually is. */
export function Handle({ list, column }: { list: string; column: string }) {
  return (
    <span
      aria-hidden="true"
      className={css.handle}
      onPointerDown={(event) => resizing(event, (pixels) => setWidth(list, column, pixels))}
      onDoubleClick={() => setWidth(list, column, undefined)}
    />
  );
}

/** Follows the pointer that drags the edge of a head. */
function resizing(event: PointerEvent<HTMLElement>, resize: (pixels: number) => void): void {
  const handle = event.currentTarget;
  const [from, before] = [event.clientX, handle.parentElement!.offsetWidth];
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  const drag = ({ clientX }: { clientX: number }) => resize(before + clientX - from);
  handle.addEventListener('pointermove', drag);
  handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', drag), { once: true });
}

/**
 * Buttons that bring columns into view which are outside of it; nothing when there are none. It stands beside the
 * scrolling element, whose columns with `data-pinned` stay where they are, at `--left-0` and so on.
 */
export function Further({ scroller }: { scroller: RefObject<HTMLElement | null> }) {
  const [hidden, setHidden] = useState({ before: false, after: false });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const look = () => {
      let left = 0;
      [...element.querySelectorAll<HTMLElement>(PINNED)].forEach((head, at) => {
        element.style.setProperty(`--left-${at}`, `${left}px`);
        left += head.offsetWidth;
      });
      element.parentElement!.style.setProperty('--pinned', `${left}px`);
      const before = element.scrollLeft > 1;
      const after = element.scrollWidth - element.clientWidth - element.scrollLeft > 1;
      setHidden((now) => (now.before === before && now.after === after ? now : { before, after }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    observer.observe(element.firstElementChild!);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  });
  return (['before', 'after'] as const)
    .filter((side) => hidden[side])
    .map((side) => (
      <button
        key={side}
        type="button"
        className={css.further}
        data-side={side}
        aria-label={`Show the columns ${side} these`}
        onClick={() =>
          scroller.current!.scrollBy({ left: (side === 'after' ? 0.6 : -0.6) * scroller.current!.clientWidth })
        }
      >
        {side === 'before' ? '‹' : '›'}
      </button>
    ));
}
