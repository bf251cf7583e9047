import { testDatabase, until } from '@fairlead/postgres/testing';
import { eventingMigrations, Followers, KeptPages, ParkedSubjects, PostgresEventStore, Rebuild } from '..';
import type { Projection, Recorded } from '..';

const VIEW = 'words';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: PostgresEventStore;
let followers: Followers;
let reads: string[];
let versions: Record<string, number>;
/** True: the view cannot apply the word "bad". */
let isFailing: boolean;

beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  await database.pool.query('create table words (stream text, version int, word text, primary key (stream, version))');
});
beforeEach(() => {
  reads = [];
  versions = {};
  isFailing = false;
  store = new PostgresEventStore(database.pool);
  followers = new Followers(store, database.pool, { attempts: 1, firstMs: 10, mostMs: 20 });
  followers.register(view());
  followers.onApplicationBootstrap();
});
afterEach(async () => {
  await followers.onApplicationShutdown();
  await store.close();
  await database.pool.query('truncate words, parked_subjects');
});
afterAll(() => database.drop());

function view(): Projection {
  return {
    name: VIEW,
    categories: ['word'],
    async handle(events, tx) {
      for (const { stream, version, data } of events as Recorded<ReturnType<typeof said>>[]) {
        if (isFailing && data.word === 'bad') throw new TypeError('no such word');
        await tx.query('insert into words values ($1, $2, $3)', [stream, version, data.word]);
      }
    },
  };
}
const said = (word: string) => ({ type: 'Said', data: { word } });

/** Appends a word, and waits until the view has handled it. */
async function say(stream: string, word: string): Promise<void> {
  const { position } = await store.append(stream, versions[stream] ?? 0, [said(word)], {});
  versions[stream] = (versions[stream] ?? 0) + 1;
  await until(async () => followers.positionOf(VIEW) >= position);
}

/** Returns the page with all words of a stream, and notes whether it was read. */
async function page(pages: KeptPages, stream: string, workspace = 'a'): Promise<string> {
  const { body } = await pages.get(workspace, VIEW, stream, async () => {
    reads.push(stream);
    const { rows } = await database.pool.query<{ word: string }>(
      'select word from words where stream = $1 order by version',
      [stream],
    );
    return { body: Buffer.from(rows.map(({ word }) => word).join(' ')) };
  });
  return body.toString();
}

it('reads a page once, until the view has changed', async () => {
  const pages = new KeptPages(database.pool);
  await say('word-1', 'one');
  expect(await page(pages, 'word-1')).toBe('one');
  expect(await page(pages, 'word-1')).toBe('one');
  expect(reads).toEqual(['word-1']);
  await say('word-1', 'two');
  expect(await page(pages, 'word-1')).toBe('one two');
  expect(await page(pages, 'word-1')).toBe('one two');
  expect(reads).toEqual(['word-1', 'word-1']);
});

it('keeps the pages of workspaces apart, and no failure', async () => {
  const pages = new KeptPages(database.pool);
  await say('word-2', 'one');
  await expect(pages.get('a', VIEW, 'word-2', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await page(pages, 'word-2', 'a')).toBe('one');
  expect(await page(pages, 'word-2', 'b')).toBe('one');
  expect(reads).toEqual(['word-2', 'word-2']);
});

it('reads it again when a stream that was set aside has been applied later', async () => {
  const pages = new KeptPages(database.pool);
  isFailing = true;
  await store.append('word-3', 0, [said('bad')], {});
  // Of one event alone it is not known that it is the cause.
  await say('word-4', 'good');
  const parked = new ParkedSubjects(database.pool);
  const only = async () => (await parked.list(1))[0];
  await until(async () => (await only())?.status === 'parked');
  expect(await page(pages, 'word-3')).toBe('');
  isFailing = false;
  await parked.retry((await only())!.id);
  await until(async () => (await only()) === undefined);
  expect(await page(pages, 'word-3')).toBe('bad');
});

it('reads it again when the view was made anew', async () => {
  const pages = new KeptPages(database.pool);
  await say('word-5', 'one');
  await database.pool.query(`update words set word = 'changed by hand' where stream = 'word-5'`);
  expect(await page(pages, 'word-5')).toBe('changed by hand');
  const model = { name: VIEW, tables: ['words'], projections: () => [view()] };
  const rebuild = new Rebuild(store, database.pool, database.url, model);
  try {
    await rebuild.fill();
    await rebuild.swap();
  } finally {
    await rebuild.close();
  }
  expect(await page(pages, 'word-5')).toBe('one');
});

it('keeps so many bytes of a workspace, and of all, those that were used last', async () => {
  // Each of one character weighs two.
  const pages = new KeptPages(database.pool, { workspace: 5, process: 9 });
  for (const word of ['one', 'two', 'six']) await say(`word-${word}`, word[0]!);
  await say('word-long', 'longer');
  const all = async (...asked: [stream: string, workspace: string][]) => {
    reads = [];
    for (const [stream, workspace] of asked) await page(pages, stream, workspace);
    return reads.length;
  };
  expect(await all(['word-one', 'a'], ['word-two', 'a'], ['word-one', 'a'])).toBe(2);
  expect(await all(['word-six', 'a'], ['word-one', 'a'], ['word-two', 'a'])).toBe(2);
  // Larger than what is kept of a workspace.
  expect(await all(['word-long', 'a'], ['word-long', 'a'])).toBe(2);
  // The workspace that was used least lately makes room for another one.
  expect(await all(['word-one', 'b'], ['word-two', 'b'], ['word-one', 'a'])).toBe(3);
});
