import type { Growth } from './grown-bodies';

export const FORM_TYPE = 'multipart/form-data; boundary=grown';

const id = () => crypto.randomUUID();
const times = <T>(units: number, make: (n: number) => T) => Array.from({ length: units }, (_, n) => make(n));

/** One part; `lines` are further lines of its head. */
function part(name: string, content: string, lines = ''): string {
  return `--grown\r\ncontent-disposition: form-data; name="${name}"\r\n${lines}\r\n${content}\r\n`;
}

function grown(name: string, parts: (units: number) => string | readonly string[]): Growth {
  const make = (units: number) => `${[parts(units)].flat().join('')}--grown--\r\n`;
  const bytes = Math.ceil((Buffer.byteLength(make(20)) - Buffer.byteLength(make(10))) / 10);
  return { name, unit: { values: 1, bytes }, make };
}

const members = (units: number) => JSON.stringify(Object.fromEntries(times(units, (n) => [`member_${n}`, n])));

/** Ways in which any form can grow. */
const ANY = [
  grown('parts', (units) => times(units, (n) => part(`unknown_${n}`, 'x'))),
  grown('a name', (units) => part('é_%22'.repeat(units), 'x')),
  grown('lines of a head', (units) => part('x', 'x', times(units, (n) => `x-line-${n}: 1\r\n`).join(''))),
  grown('what is nearly a boundary', (units) => part('file', '\r\n--grow\r\n--'.repeat(units))),
];

const run = (members = {}) => JSON.stringify({ id: id(), name: 'grown', run_type: 'chain', inputs: {}, ...members });
const RUNS = [
  grown('runs', (units) => times(units, () => part(`post.${id()}`, run()))),
  grown('changes', (units) => times(units, () => part(`patch.${id()}`, run()))),
  grown('feedback', (units) =>
    times(units, () => part(`feedback.${id()}`, JSON.stringify({ run_id: id(), key: 'grown', score: 1 }))),
  ),
  grown('attachments of a run', (units) => {
    const one = id();
    return [part(`post.${one}`, run({ id: one })), ...times(units, (n) => part(`attachment.${one}.a${n}`, 'x'))];
  }),
  grown('members of a run', (units) => part(`post.${id()}`, members(units))),
  grown('inputs of a run', (units) => {
    const one = id();
    return [part(`post.${one}`, run({ id: one })), part(`post.${one}.inputs`, members(units))];
  }),
];

const EXAMPLES = [
  grown('examples', (units) => times(units, (n) => part(id(), JSON.stringify({ inputs: { n } })))),
  grown('attachments of an example', (units) => {
    const one = id();
    return [part(one, '{}'), ...times(units, (n) => part(`${one}.attachment.a${n}`, 'x'))];
  }),
  grown('inputs of an example', (units) => {
    const one = id();
    return [part(one, '{}'), part(`${one}.inputs`, members(units))];
  }),
];

const csv = (text: string, keys: readonly string[] = ['a']) => [
  part('name', id()),
  ...keys.map((key) => part('input_keys', key)),
  part('file', text),
];
const CSV = [
  grown('rows', (units) => csv(`a,b\n${'1,2\n'.repeat(units)}`)),
  grown('columns', (units) => csv(`a${times(units, (n) => `,c${n}`).join('')}\n1${',2'.repeat(units)}\n`)),
  grown('columns that are taken', (units) => {
    const columns = times(units, (n) => `c${n}`);
    return csv(`${columns.join()}\n${columns.join()}\n`, columns);
  }),
  grown('a column that is taken again and again', (units) =>
    csv(
      `a\n${'1\n'.repeat(1000)}`,
      times(units, () => 'a'),
    ),
  ),
  grown('quotes', (units) => csv(`a\n"${'""'.repeat(units)}"\n`)),
  grown('a quote that does not end', (units) => csv(`a\n"${'1,\n'.repeat(units)}`)),
  grown('empty lines', (units) => csv(`a\n${'\n'.repeat(units)}`)),
];

/** All the ways in which the form of each route can grow. */
export const GROWN_FORMS: Readonly<Record<string, readonly Growth[]>> = {
  'POST /api/v1/runs/multipart': [...ANY, ...RUNS],
  'POST /api/v1/platform/datasets/:dataset_id/examples': [...ANY, ...EXAMPLES],
  'PATCH /api/v1/platform/datasets/:dataset_id/examples': [...ANY, ...EXAMPLES],
  'POST /api/v1/datasets/upload': [...ANY, ...CSV],
};
