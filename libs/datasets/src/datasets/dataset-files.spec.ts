import { parse } from 'csv-parse/sync';
import { v4 as newId } from 'uuid';
import { HOSTILE, type Reading, rows, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
let dataset: string;
beforeAll(async () => {
  reading = await startReading();
});
beforeEach(async () => {
  dataset = await reading.insert('datasets', rows.dataset(reading.tenants.a));
});
afterAll(() => reading.stop());

let sequence = 0;
const insert = (row = {}) =>
  reading.insert('examples', rows.example(reading.tenants.a, dataset, { sequence: sequence++, ...row }));
const file = (format: string, search = '', tenant: 'a' | 'b' = 'a') =>
  reading.get(`/api/v1/datasets/${dataset}/${format}${search}`, tenant);
const lines = async (format: string, search = '') =>
  (await file(format, search)).text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe('A dataset as a file', () => {
  it('is CSV whose columns an upload knows', async () => {
    const outputs = '{"a": "comma, \\"quote\\""}';
    const ids = [await insert({ inputs: HOSTILE }), await insert({ outputs, name: '=name' })];
    await insert({ name: 'q-17', metadata: '{"row_id": "q-17"}' });
    ids.push(await insert({ metadata: 'null' }));
    const { text, headers } = await file('csv');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toContain(`dataset-${dataset}.csv`);
    const found = parse(text, { columns: true });
    expect(found).toMatchObject([
      { row_id: ids[0], inputs: HOSTILE, expected_outputs: '' },
      { row_id: ids[1], expected_outputs: outputs, name: "'=name", metadata: '{"dataset_split":["base"]}' },
      { row_id: 'q-17', name: 'q-17' },
      { row_id: ids[2] },
    ]);
  });

  it('is JSON Lines, in the order of its examples, whatever is in them', async () => {
    await insert({ inputs: HOSTILE, outputs: '{\n"a":\r\n1}' });
    for (let turn = 0; turn < 30; turn++) await insert({ inputs: `{"turn":${turn}}` });
    const { text } = await file('jsonl');
    expect(text.split('\n')).toHaveLength(32);
    expect(text).toContain(`"inputs":${HOSTILE},"outputs":{ "a": 1}`);
    const found = await lines('jsonl');
    expect(found.slice(1).map(({ inputs }) => inputs.turn)).toEqual(Array.from({ length: 30 }, (_, turn) => turn));
    expect(found[1]).toMatchObject({ outputs: null, metadata: { dataset_split: ['base'] } });
  });

  it('has messages for OpenAI, whatever form they were sent in', async () => {
    await insert({ inputs: '{"question":"2 + 2?"}', outputs: '{"answer":"4"}' });
    await insert({
      inputs: '{"messages":[{"role":"system","content":"Be short."},{"role":"user","content":"Hi"}]}',
      outputs: '{"message":{"role":"assistant","content":"Hello","tool_calls":[]}}',
    });
    await insert({
      inputs: '{"input":[{"type":"human","data":{"content":"Where?"}}]}',
      outputs: '{"output":{"type":"ai","content":"There."}}',
    });
    await insert({ inputs: '{"a":1,"b":2}' });
    expect(await lines('openai_ft')).toEqual([
      {
        messages: [
          { role: 'user', content: '2 + 2?' },
          { role: 'assistant', content: '4' },
        ],
      },
      {
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello', tool_calls: [] },
        ],
      },
      {
        messages: [
          { role: 'user', content: 'Where?' },
          { role: 'assistant', content: 'There.' },
        ],
      },
      { messages: [{ role: 'user', content: '{"a":1,"b":2}' }] },
    ]);
    expect((await lines('openai'))[0]).toEqual({ input: [{ role: 'user', content: '2 + 2?' }], ideal: '4' });
    expect((await lines('openai'))[3].ideal).toBe('');
  });

  it('is that of a version, and of its own workspace', async () => {
    await insert({ valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-02-01T00:00:00Z', inputs: '{"v":1}' });
    await insert({ valid_from: '2026-02-01T00:00:00Z', inputs: '{"v":2}' });
    expect((await lines('jsonl')).map(({ inputs }) => inputs.v)).toEqual([2]);
    expect((await lines('jsonl', '?as_of=2026-01-15')).map(({ inputs }) => inputs.v)).toEqual([1]);
    for (const format of ['csv', 'jsonl', 'openai', 'openai_ft']) {
      expect((await file(format)).status).toBe(200);
      expect((await file(format, '', 'b')).status).toBe(404);
      expect((await file(format, '?as_of=no-such-tag')).status).toBe(404);
      expect((await reading.get(`/api/v1/datasets/${newId()}/${format}`)).status).toBe(404);
    }
    await reading.pool.query('delete from examples where dataset_id = $1', [dataset]);
    expect((await file('jsonl')).text).toBe('');
  });
});
