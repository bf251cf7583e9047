import * as fc from 'fast-check';
import { type Reading, startReading } from '@fairlead/experiments/testing';
import { jsonContaining, Parameters } from './sql';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const escaped = (text: string) =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
/** Writers of JSON: characters as they are, ASCII alone, that of HTML, everything as an escape with upper-case digits. */
const WRITERS: readonly ((value: unknown) => string)[] = [
  JSON.stringify,
  (value) => JSON.stringify(value).replaceAll(/[\x7f-\uffff]/g, escaped),
  (value) =>
    JSON.stringify(value)
      .replaceAll('/', '\\/')
      .replaceAll(/[<>&']/g, escaped),
  (value) =>
    JSON.stringify(value).replaceAll(
      /(\\u.{4}|\\.)|([^\\"{}[\]:,])/gu,
      (_, escape: string | undefined, character = '') =>
        escape !== undefined
          ? escape
          : escaped(character as string)
              .toUpperCase()
              .replaceAll('U', 'u'),
    ),
];

const SIGNS = [
  'a',
  'n',
  'u',
  'E9',
  '00',
  'é',
  'É',
  'ß',
  'ü',
  '"',
  '\\',
  '/',
  '<',
  '%',
  '_',
  '\n',
  '\t',
  '\x01',
  '\x7f',
];
const text = fc
  .array(fc.constantFrom(...SIGNS, '😀', '\u2028', '*', '(', '[', '.', ' ', '\0', '\ud800'), { maxLength: 70 })
  .map((signs) => signs.join(''));
const found = async (json: readonly string[], wanted: string) => {
  const parameters = new Parameters();
  const texts = parameters.add(json, 'text[]');
  const condition = jsonContaining(wanted, parameters)('json');
  const { rows } = await reading.pool.query<{ found: boolean }>(
    `select ${condition} as found from unnest(${texts}) with ordinality as u (json, place) order by place`,
    parameters.values,
  );
  return rows.map((row) => row.found);
};

it('finds a part of a text in JSON, in upper or lower case, however a client has written it', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.nat(), fc.nat(), fc.boolean(), async (whole, from, length, isUpper) => {
      const signs = [...whole];
      const start = from % (signs.length + 1);
      const part = signs.slice(start, start + (length % (signs.length - start + 1))).join('');
      // The capital letter of ß is two letters.
      const wanted = isUpper ? part.replaceAll(/[^ß]/gu, (sign) => sign.toUpperCase()) : part;
      const written = WRITERS.map((write) => write({ answer: whole }));
      expect({ written, wanted, found: await found(written, wanted) }).toEqual({
        ...{ written, wanted },
        found: written.map(() => true),
      });
    }),
    { numRuns: 300 },
  );
});

it('finds no text that is not there: neither as JSON means it nor as it was sent', async () => {
  const lower = (one: string) => one.toLowerCase();
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 5 }), text, async (texts, wanted) => {
      const written = texts.map((one) => JSON.stringify(one).replaceAll(/[\x7f-\uffff]/g, escaped));
      const expected = texts.map(
        (one, at) => lower(`"${one}"`).includes(lower(wanted)) || lower(written[at]!).includes(lower(wanted)),
      );
      expect({ texts, wanted, found: await found(written, wanted) }).toEqual({ texts, wanted, found: expected });
    }),
    { numRuns: 300 },
  );
});

it('keeps a backslash before an escape apart from it', async () => {
  expect(await found(['"\\\\u00e9"', '"\\\\\\u00e9"', '"\\u00e9"'], 'é')).toEqual([false, true, true]);
  expect(await found(['"\\\\u00e9"', '"\\u00e9"', '"\\\\\\\\u00e9"'], '\\u00e9')).toEqual([true, true, true]);
  expect(await found(['"\\u00e9\\u00fc"', '"\\\\u00e9\\u00fc"', '"\\\\\\u00e9\\u00fc"', '"e9\\u00fc"'], 'E9ü')).toEqual(
    [...[false, true, false, true]],
  );
});
