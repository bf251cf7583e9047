import type { Answer } from './api';
import type { Context } from './context';
import { listed } from './lists';

const context = { out: { json: false, note: () => undefined } } as unknown as Context;
const answer = (value: unknown) => ({ text: JSON.stringify(value), headers: {} }) as Answer;

it.each(['resources', 'items', 'runs', 'data', 'traces', 'projects', 'counts'])(
  'reads all pages of a list that is named %s, also behind an empty one',
  async (name) => {
    const pages = [
      { total: 3, [name]: [{ id: 1 }, { id: 2 }], first_cursor: 'a', next_cursor: 'b' },
      { [name]: [], first_cursor: null, next_cursor: 'c' },
      { [name]: [{ id: 3 }], first_cursor: 'd', next_cursor: null },
    ];
    const read = () => Promise.resolve(answer(pages.shift()));
    const { items, json } = await listed<{ id: number }>(context, {}, read);
    expect(items.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(JSON.parse(json)).toEqual(items);
  },
);
