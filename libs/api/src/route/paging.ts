import type { FastifyReply } from 'fastify';
import { bool, int, list, note, object, optional, type Schema } from '@fairlead/schema';

/** Members of a query for paged lists: `limit` 1 to 100, 20 when absent; `offset` from 0. */
export const paging = {
  limit: optional(note(int({ ge: 1, le: 100 }), 'Largest number of items in the answer.'), 20),
  offset: optional(note(int({ ge: 0 }), 'Number of items to skip: the `offset` that the previous page answered.'), 0),
};

/** The page that a request for a list asks for. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** The items of a page, and true when there are more after it. */
export interface Listed<T> {
  readonly items: T[];
  readonly more: boolean;
}

const pageOf = <T>(item: Schema<T>) => ({
  resources: note(list(item), 'The items of this page.'),
  offset: note(int(), 'The `offset` of the next page: the one of the request plus the number of items here.'),
});

/** Returns the schema of a page of a list. */
export function page<T>(title: string, item: Schema<T>) {
  return object(title, pageOf(item));
}

/** As `page`, with the number of all items. */
export function countedPage<T>(title: string, item: Schema<T>) {
  return object(title, { ...pageOf(item), total: note(int(), 'Number of items on all pages together.') });
}

/** Member of a query for lists that are arrays: whether the answer tells the number of items on all pages together. */
export const counting = {
  count: optional(
    note(bool(), 'True: the header `X-Pagination-Total` has the number of items on all pages together.'),
    false,
  ),
};

/** Adds the header that `counting` asks for. */
export function tellTotal(reply: FastifyReply, total: number): void {
  void reply.header('x-pagination-total', String(total));
}

/**
 * Adds `Link: <…>; rel="next"`: the address of the request with another offset. Call it only when there is a next page.
 */
export function linkNext(reply: FastifyReply, offset: number): void {
  const [path = '/', search = ''] = reply.request.originalUrl.split('?', 2);
  const parameters = new URLSearchParams(search);
  parameters.set('offset', String(offset));
  reply.header('link', `<${path}?${parameters.toString()}>; rel="next"`);
}

/** Returns the body of a page of a list, whose next page stands in the header `Link` where there is one. */
export function answerPage<Item, Shown>(
  reply: FastifyReply,
  { offset: begin }: Page,
  { items, more }: Listed<Item>,
  show: (item: Item) => Shown,
): { resources: Shown[]; offset: number } {
  const offset = begin + items.length;
  if (more) linkNext(reply, offset);
  return { resources: items.map((item) => show(item)), offset };
}
