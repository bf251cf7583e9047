import { BadRequest } from '@fairlead/schema';

/** A place in a list of runs: after (`next`) or before (`prev`) the run with this start time and id. */
export interface RunCursor {
  readonly direction: 'next' | 'prev';
  /** ISO time with microseconds. */
  readonly time: string;
  readonly id: string;
}

const SHAPE = /^([np])(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}\+00:00) ([0-9a-f-]{36})$/;

export function encodeCursor(cursor: RunCursor): string {
  return Buffer.from(`${cursor.direction === 'next' ? 'n' : 'p'}${cursor.time} ${cursor.id}`).toString('base64url');
}

/** Returns the place of a cursor; undefined without one. @throws BadRequest for a text that is no cursor */
export function decodeCursor(text: string | null | undefined): RunCursor | undefined {
  if (!text) return undefined;
  const match = SHAPE.exec(Buffer.from(text, 'base64url').toString('latin1'));
  const [, direction, time = '', id = ''] = match ?? [];
  if (!direction || Number.isNaN(Date.parse(time)) || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new BadRequest('The cursor is none that this service gave out.');
  return { direction: direction === 'n' ? 'next' : 'prev', time, id };
}
