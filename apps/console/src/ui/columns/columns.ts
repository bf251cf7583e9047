import { useSyncExternalStore } from 'react';

/** Columns that are shown beside those that always are, in their order; the first ones stay in view. */
export interface Arrangement {
  readonly shown: readonly string[];
  readonly pinned: number;
}

/** Reads `pinned,…|other,…`; undefined when nothing was chosen. */
export function parseArrangement(text: string | undefined): Arrangement | undefined {
  if (text === undefined || text === '') return undefined;
  const [pinned, rest] = text.includes('|') ? text.split('|', 2) : ['', text];
  const [first, others] = [pinned, rest].map((part) => part!.split(',').filter(Boolean).map(decoded));
  const shown = [...new Set([...first!, ...others!])];
  return { shown, pinned: new Set(first).size };
}

/** An arrangement for the address. */
export function printArrangement({ shown, pinned }: Arrangement): string {
  const parts = shown.map((id) => id.replaceAll(/[%,|]/g, encodeURIComponent));
  return `${parts.slice(0, pinned).join()}|${parts.slice(pinned).join()}`;
}

/** Shows a column at the end, or hides it. */
export function toggled({ shown, pinned }: Arrangement, id: string): Arrangement {
  const at = shown.indexOf(id);
  if (at < 0) return { shown: [...shown, id], pinned };
  return { shown: shown.filter((one) => one !== id), pinned: at < pinned ? pinned - 1 : pinned };
}

/** Pins a column behind those that are pinned, or puts it before the others. */
export function pinned({ shown, pinned: count }: Arrangement, id: string): Arrangement {
  const rest = shown.filter((one) => one !== id);
  const isPinned = shown.indexOf(id) < count;
  const to = isPinned ? count - 1 : count;
  return { shown: rest.toSpliced(to, 0, id), pinned: isPinned ? count - 1 : count + 1 };
}

/** Moves a column by one place, among the pinned ones or among the others. */
export function moved({ shown, pinned: count }: Arrangement, id: string, by: 1 | -1): Arrangement {
  const [at, to] = [shown.indexOf(id), shown.indexOf(id) + by];
  if (to < 0 || to >= shown.length || at < count !== to < count) return { shown, pinned: count };
  return { shown: shown.filter((one) => one !== id).toSpliced(to, 0, id), pinned: count };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Widths = Readonly<Record<string, number>>;

const NAME = 'fairlead.widths';
const NONE: Widths = {};
export const [NARROWEST, WIDEST, WIDTH_STEP] = [48, 1200, 24];
const listeners = new Set<() => void>();
let all: Readonly<Record<string, Widths>> | undefined;

function read(): Readonly<Record<string, Widths>> {
  if (all) return all;
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '{}');
    all = typeof kept === 'object' && kept !== null ? (kept as Record<string, Widths>) : {};
  } catch {
    all = {};
  }
  return all;
}

/** The widths, in pixels, that columns of a list were given in this browser. */
export function useWidths(list: string | undefined): Widths {
  return useSyncExternalStore(listen, () => (list === undefined ? NONE : (read()[list] ?? NONE)));
}

/** Keeps the width of a column; undefined lets the column be as wide as what is in it. */
export function setWidth(list: string, column: string, width: number | undefined): void {
  const others = Object.entries(read()[list] ?? NONE).filter(([id]) => id !== column);
  const own = width === undefined ? [] : [[column, Math.round(clamp(width))] as const];
  const next = Object.fromEntries([...others, ...own]);
  all = { ...read(), [list]: next };
  localStorage.setItem(NAME, JSON.stringify(all));
  for (const listener of listeners) listener();
}

function clamp(width: number): number {
  return Math.min(WIDEST, Math.max(NARROWEST, width));
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
