import { csvRows, mapping } from './upload/csv.rows';
import { membersOf } from './upload/json-members';
import { jsonlRows } from './upload/jsonl.rows';
import { type BodyOptions, type FileRow, uploadBody } from './upload/upload-body';

const TIME = '2026-03-01T00:00:00.000Z';

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function bodyOf(rows: AsyncIterable<FileRow>, options: Partial<BodyOptions> = {}) {
  let text = '';
  const all: BodyOptions = {
    header: { experiment_name: 'e', dataset_name: 'd' },
    time: TIME,
    rowIds: 'inputs',
    ...options,
  };
  for await (const piece of uploadBody(rows, all, () => undefined)) text += piece;
  return { text, json: JSON.parse(text) };
}

interface Given extends Partial<BodyOptions> {
  readonly map?: readonly string[];
  readonly delimiter?: string;
  readonly leftOut?: string[];
  readonly size?: number;
}

function rowOptions({ map = [], leftOut = [] }: Given) {
  return { map: mapping(map), onLeftOut: (name: string) => void leftOut.push(name) };
}

const csv = async (text: string, given: Given = {}) =>
  bodyOf(csvRows(inPieces(text, given.size ?? 1000), given.delimiter ?? ',', rowOptions(given)), given);
const jsonl = async (text: string, given: Given = {}) =>
  bodyOf(jsonlRows(inPieces(text, given.size ?? 1000), rowOptions(given)), given);

describe('CSV', () => {
  it.each([1, 2, 7, 1000])('understands quotes, line breaks, a BOM and CRLF, read %d bytes at a time', async (size) => {
    const { json } = await csv(
      '\ufeffinputs.question,actual_outputs.answer,scores.correct\r\n"a ""b"", ä\r\nc",,1\r\n\r\nplain,"x,y",0.5\r\n',
      { size },
    );
    expect(json.results).toMatchObject([
      { inputs: { question: 'a "b", ä\r\nc' }, evaluation_scores: [{ key: 'correct', score: 1 }] },
      { inputs: { question: 'plain' }, actual_outputs: { answer: 'x,y' }, evaluation_scores: [{ score: 0.5 }] },
    ]);
    expect(json.results[0]).not.toHaveProperty('actual_outputs');
  });

  it('takes lines that end with LF although the first one ends with CRLF', async () => {
    const { json } = await csv('inputs.a,scores.s\r\n1,2\n3,4\n');
    expect(json.results.map((row: { inputs: object }) => row.inputs)).toEqual([{ a: '1' }, { a: '3' }]);
  });

  it('puts columns where their names or --map say, and tells of those that go nowhere', async () => {
    const leftOut: string[] = [];
    const { json } = await csv(
      [
        'prompt,inputs.deep.context:json,expected_outputs,grade,scores.tone,scores.ok,run_metadata.model,error,run_name,note',
        'q,"[1, 2.50]","{""answer"": 42}",-1e-3,polite,TRUE,m,failed,run 1,x',
      ].join('\n'),
      { map: ['prompt=inputs.question', 'grade=scores.grade'], leftOut },
    );
    expect(leftOut).toEqual(['note']);
    expect(json.results[0]).toMatchObject({
      inputs: { question: 'q', deep: { context: [1, 2.5] } },
      expected_outputs: { answer: 42 },
      evaluation_scores: [
        { key: 'grade', score: -0.001 },
        { key: 'tone', value: 'polite' },
        { key: 'ok', score: true },
      ],
      run_metadata: { model: 'm' },
      error: 'failed',
      run_name: 'run 1',
    });
  });

  it('reads tabs', async () => {
    expect((await csv('inputs.a\tinputs.b\n1, 2\t3\n', { delimiter: '\t' })).json.results[0].inputs).toEqual({
      a: '1, 2',
      b: '3',
    });
  });

  it('knows on which line each row begins', async () => {
    const rows = csvRows(inPieces('inputs.a\r\n"1\r\n2"\r\n\r\n3\r\n"4\n\n"\r\n5\r\n', 3), ',', rowOptions({}));
    const lines: number[] = [];
    for await (const { line } of rows) lines.push(line);
    expect(lines).toEqual([2, 5, 6, 9]);
  });

  it.each([
    ['inputs.a,b\n1,2,3\n', {}, /broken: .*line 2/],
    ['inputs.a\n"1\n', {}, /broken: .*line 2/],
    ['a,b\n1,2\n', {}, /No column goes to the inputs.*There are: a, b/],
    ['inputs.a\n1\n', { map: ['b=scores.c'] }, /--map names b, which is no column/],
    ['inputs.a\n1\n', { map: ['inputs.a=input'] }, /write COLUMN=TARGET/],
    ['inputs.a,latency\n1,fast\n', {}, /line 2, column latency: latency is fast/],
    ['inputs.a:json\n{\n', {}, /line 2, column inputs\.a:json: is not JSON/],
    ['inputs,inputs.a\n{},1\n', {}, /line 2, column inputs\.a: inputs\.a is given both as a whole and in parts/],
    ['inputs.a,row_id\n1,x\n,y\n', {}, /row 2 \(line 3\): it has no inputs/],
    ['inputs.a\n', {}, /no rows/],
    ['', {}, /no rows/],
  ])('refuses %j', async (text, given, message) => {
    await expect(csv(text, given)).rejects.toThrow(message);
  });
});

describe('JSON Lines', () => {
  it('keeps what it does not have to understand as it is written', async () => {
    const { text, json } = await jsonl(
      '\ufeff{"inputs": {"big": 12345678901234567890, "n": 1.10, "__proto__": {"a": "}\\""}}, "evaluation_scores": []}\r\n\n{"inputs":{}}',
      { size: 5 },
    );
    expect(text).toContain('"inputs":{"big": 12345678901234567890, "n": 1.10, "__proto__": {"a": "}\\""}}');
    expect(json.results).toHaveLength(2);
  });

  it('takes scores as an object too, and leaves nulls out', async () => {
    const line = { inputs: { a: 1 }, scores: { ok: true, grade: 0.5, tone: 'dry', none: null }, error: null, extra: 1 };
    const leftOut: string[] = [];
    const { json } = await jsonl(JSON.stringify(line), { leftOut });
    expect(json.results[0].evaluation_scores).toEqual([
      { key: 'ok', score: true },
      { key: 'grade', score: 0.5 },
      { key: 'tone', value: 'dry' },
    ]);
    expect(json.results[0]).not.toHaveProperty('error');
    expect(leftOut).toEqual(['extra']);
  });

  it.each([
    ['{"inputs":{}}\n{"inputs"', /line 2: it is not JSON/],
    ['[1]', /line 1: it is not a JSON object/],
    ['{"inputs":{},"scores":1}', /line 1, member scores: .*neither a list nor an object/],
  ])('refuses %j', async (text, message) => {
    await expect(jsonl(text)).rejects.toThrow(message);
  });
});

describe('Row ids', () => {
  const ids = (json: { results: { row_id: string }[] }) => json.results.map(({ row_id }) => row_id);

  it('are the same for the same inputs, from any file and in any order of members', async () => {
    const a = ids((await csv('inputs.a,inputs.b,scores.s\n1,2,0\n2,1,1\n1,2,1\n')).json);
    const b = ids((await jsonl('{"scores":{"s":1},"inputs":{"b":"2","a":"1"}}')).json);
    expect(a[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(a[1]).not.toBe(a[0]);
    expect([a[2], b[0]]).toEqual([a[0], a[0]]);
  });

  it('are those of the file: UUIDs as they are, other names as UUIDs of their own', async () => {
    const uuid = '0196b1f0-0000-7000-8000-000000000001';
    const [own, named, again] = ids((await csv(`inputs.a,row_id\n1,${uuid}\n1,q-17\n2,q-17\n`)).json);
    expect(own).toBe(uuid);
    expect(named).not.toBe(own);
    expect(again).toBe(named);
  });

  it('can go by the number of the row', async () => {
    const text = 'inputs.a\n1\n1\n';
    const [first, second] = ids((await csv(text, { rowIds: 'number' })).json);
    expect(first).not.toBe(second);
    expect(ids((await csv('inputs.a\n5\n6\n', { rowIds: 'number' })).json)).toEqual([first, second]);
  });
});

describe('Times', () => {
  const times = async (text: string, given: Given = {}) => {
    const { json } = await csv(text, given);
    const { start_time, end_time } = json.results[0];
    return [start_time, end_time, json.experiment_start_time, json.experiment_end_time];
  };

  it('span the rows', async () => {
    const text =
      'inputs.a,start_time,end_time\n1,2026-01-01 10:00,2026-01-01T10:00:01.1234567Z\n2,1767225600,1767225601\n';
    expect(await times(text)).toEqual([
      '2026-01-01 10:00',
      '2026-01-01T10:00:01.1234567Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T10:00:01.124Z',
    ]);
  });

  it('are made up from what there is', async () => {
    expect(await times('inputs.a\n1\n')).toEqual([TIME, TIME, TIME, TIME]);
    const start = '2026-01-01T00:00:00+00:00';
    expect((await times('inputs.a,latency\n1,1.5\n', { start })).slice(0, 3)).toEqual([
      start,
      '2026-01-01T00:00:01.500Z',
      start,
    ]);
    expect((await times('inputs.a,end_time,latency\n1,2026-01-01T00:00:05Z,5\n')).slice(0, 2)).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:05Z',
    ]);
  });

  it('that make no sense are left to the service to refuse', async () => {
    expect((await times('inputs.a,start_time\n1,yesterday\n')).slice(0, 2)).toEqual(['yesterday', 'yesterday']);
  });
});

it('splits objects into members', () => {
  expect([...membersOf(' { } ')]).toEqual([]);
  expect([...membersOf('{"a":1,"b" : {"c":[1,{"d":"]}"}]} , "a":"\\"" ,"\\u0065":null}')]).toEqual([
    ['a', '"\\""'],
    ['b', '{"c":[1,{"d":"]}"}]}'],
    ['e', 'null'],
  ]);
});
