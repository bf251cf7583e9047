import { csvRows } from './csv.rows';
import { ImportReport } from './import-report';
import { jsonRows } from './json.rows';
import { checkJson, partsOf } from './json-text';
import { mapping, type RowOptions } from './mapping';
import { type BodyOptions, type FileRow, uploadBody } from './upload-body';

const TIME = '2026-03-01T00:00:00.000Z';

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function bodyOf(rows: AsyncIterable<FileRow>, options: Given = {}) {
  let text = '';
  const all: BodyOptions = {
    header: { experiment_name: 'e', dataset_name: 'd' },
    time: TIME,
    rowIds: 'inputs',
    ...options,
  };
  for await (const piece of uploadBody(
    rows,
    all,
    () => undefined,
    (note) => options.report?.note(note),
  ))
    text += piece;
  return { text, json: JSON.parse(text) };
}

interface Given extends Partial<BodyOptions> {
  readonly map?: readonly string[];
  readonly delimiter?: string;
  readonly decimal?: '.' | ',';
  readonly textScores?: readonly string[];
  readonly report?: ImportReport;
  readonly size?: number;
}

function rowOptions({ map = [], decimal = '.', textScores = [], report = new ImportReport() }: Given): RowOptions {
  return { map: mapping(map), decimal, textScores: new Set(textScores), report };
}

const csv = async (text: string, given: Given = {}) =>
  bodyOf(csvRows(inPieces(text, given.size ?? 1000), given.delimiter, rowOptions(given)), given);
const jsonl = async (text: string, given: Given = {}) =>
  bodyOf(jsonRows(inPieces(text, given.size ?? 1000), rowOptions(given)), given);

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
    const report = new ImportReport();
    const { json } = await csv(
      [
        'prompt,inputs.deep.context:json,expected_outputs,grade,scores.tone,scores.ok,run_metadata.model,error,run_name,note',
        'q,"[1, 2.50]","{""answer"": 42}",-1e-3,polite,TRUE,m,failed,run 1,x',
      ].join('\n'),
      { map: ['prompt=inputs.question', 'grade=scores.grade'], report },
    );
    expect(report.json()).toMatchObject({ columns: { note: 1 } });
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

  it('recognises what stands between columns, and refuses a line that it would take for one column', async () => {
    for (const between of [',', ';', '\t', '|']) {
      const { json } = await csv(['inputs.a', 'scores.s'].join(between) + '\n' + ['x', '0.5'].join(between));
      expect(json.results).toMatchObject([{ inputs: { a: 'x' }, evaluation_scores: [{ key: 's', score: 0.5 }] }]);
    }
    await expect(csv('inputs.a^scores.s\nx^0.5\n')).rejects.toThrow(
      /see --delimiter\), there are: inputs\.a\^scores\.s/,
    );
    await expect(csv('inputs.a,scores.s\rx,1\ry,0\r')).rejects.toThrow(/Lines of the file end with CR alone/);
  });

  it('knows on which line each row begins', async () => {
    const rows = csvRows(inPieces('inputs.a\r\n"1\r\n2"\r\n\r\n3\r\n"4\n\n"\r\n5\r\n', 3), undefined, rowOptions({}));
    const lines: number[] = [];
    for await (const { line } of rows) lines.push(line);
    expect(lines).toEqual([2, 5, 6, 9]);
  });

  it.each([
    [
      'inputs.a,b\n1,2,3\n',
      {},
      /broken: row 1 \(line 2\) has 3 cells, but the first line names 2 columns \(inputs\.a, b\)\. Expected commas/,
    ],
    ['inputs.a\n"1\n', {}, /broken: a quote that is opened in row 1 \(line 2\) is never closed/],
    ['inputs.a,b\n"1\n2",3\n"4\n\n5,6\n7,8\n', {}, /opened in row 2 \(line 4\) is never closed/],
    ['inputs.a,b\n"1\n2",3\n"4\n5",6,7\n', {}, /row 2 \(line 4\) has 3 cells/],
    ['inputs.a,latency\n1,"1,5"\n', {}, /latency is 1,5.*Add --decimal , for decimal commas/],
    ['a,b\n1,2\n', {}, /No column goes to the inputs.*there are: a, b/],
    ['inputs.a\n1\n', { map: ['b=scores.c'] }, /--map names b, which is no column.*There are: inputs\.a/],
    ['inputs.a\n1\n', { map: ['inputs.a=input'] }, /write COLUMN=TARGET/],
    ['inputs.a,latency\n1,fast\n', {}, /row 1 \(line 2\), column latency: latency is fast/],
    ['inputs.a:json\n{\n', {}, /row 1 \(line 2\), column inputs\.a:json: it is not JSON/],
    [
      'inputs,inputs.a\n{},1\n',
      {},
      /row 1 \(line 2\), column inputs\.a: inputs\.a is given both as a whole and in parts/,
    ],
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
    const report = new ImportReport();
    const { json } = await jsonl(JSON.stringify(line), { report });
    expect(json.results[0].evaluation_scores).toEqual([
      { key: 'ok', score: true },
      { key: 'grade', score: 0.5 },
      { key: 'tone', value: 'dry' },
    ]);
    expect(json.results[0]).not.toHaveProperty('error');
    expect(report.json()).toMatchObject({ columns: { extra: 1 }, scores: { none: { null: 1 } } });
  });

  it.each([
    ['{"inputs":{}}\n{"inputs"', /row 2 \(line 2\): it is not JSON/],
    ['[1]', /row 1 \(line 1\): it is not a JSON object/],
    ['{"inputs":{},"scores":1}', /row 1 \(line 1\), column scores: .*neither a list nor an object/],
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
    const { json } = await csv(`inputs.a,row_id\n1,${uuid}\n1,q-17\n1,q-17\n`);
    const [own, named, again] = ids(json);
    expect(own).toBe(uuid);
    expect(named).not.toBe(own);
    expect(again).toBe(named);
    expect(json.results.map((row: { row_name?: string }) => row.row_name)).toEqual([undefined, 'q-17', 'q-17']);
    const number = await jsonl('{"row_id":12345678901234567890,"inputs":{}}');
    expect(number.json.results[0].row_name).toBe('12345678901234567890');
  });

  it('are apart where one example could not hold both rows, which both places are told of', async () => {
    const report = new ImportReport();
    const text = 'inputs.a,expected_outputs.b,row_id\n1,x,q\n2,x,q\n2,x,q\n5,x,\n5,y,\n5,,\n5,y,\n6,,\n6,z,\n';
    const { json } = await csv(text, { report });
    const [q, other, again, five, apart, none, last, six, late] = ids(json);
    expect([again, none, last]).toEqual([other, five, apart]);
    expect(new Set([q, other, five, apart, six, late]).size).toBe(6);
    expect(json.results[1].row_name).toBe('q');
    expect(report.lines()).toEqual([
      'row 2 (line 3) has the row_id q, as row 1 (line 2) has, but other inputs or expected outputs: it became a row of its own.',
      expect.stringMatching(/^row 3 \(line 4\) has the row_id q/),
      'row 5 (line 6) has the inputs of row 4 (line 5), but other expected outputs: it became a row of its own.',
      expect.stringMatching(/^row 7 \(line 8\) has the inputs of row 4/),
      expect.stringMatching(/^row 9 \(line 10\) has the inputs of row 8/),
    ]);
  });

  it('are the same in every form of a UUID, and none when they are empty', async () => {
    const report = new ImportReport();
    const forms = ['A1B2C3D4-0000-4000-8000-00000000000A', 'a1b2c3d400004000800000000000000a'];
    const { json } = await csv(`inputs.a,row_id\n1,${forms[0]}\n1,${forms[1]}\n2,${forms[1]}\n`, { report });
    const uuid = 'a1b2c3d4-0000-4000-8000-00000000000a';
    expect(ids(json)).toEqual([uuid, uuid, expect.not.stringContaining(uuid)]);
    expect(report.lines()).toEqual([expect.stringMatching(/^row 3 \(line 4\) has the row_id .* as row 1/)]);
    const empty = await jsonl('{"row_id":"","inputs":{"a":"1"}}');
    expect(ids(empty.json)).toEqual(ids((await csv('inputs.a\n1\n')).json));
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

  it('keep the digits of a latency, and its difference from both times is told', async () => {
    const start = '2026-01-01T00:00:00.000100Z';
    const [, end] = await times(`inputs.a,start_time,latency\n1,${start},0.0004567\n`);
    expect(end).toBe('2026-01-01T00:00:00.000557Z');
    const report = new ImportReport();
    const both = `inputs.a,start_time,end_time,latency\n1,${start},2026-01-01T00:00:02Z,5\n2,1767225600,1767225602,2.005\n`;
    await csv(both, { report });
    expect(report.lines()).toEqual([
      'row 1 (line 2) has the latency 5 s, but its start and end are 1.9999 s apart, which count.',
    ]);
  });

  it('that make no sense are left to the service to refuse', async () => {
    expect((await times('inputs.a,start_time\n1,yesterday\n')).slice(0, 2)).toEqual(['yesterday', 'yesterday']);
  });
});

describe('Scores', () => {
  const table = (...scores: string[]) => ['inputs.q,scores.s', ...scores.map((one, i) => `${i},"${one}"`)].join('\n');
  const scoresOf = (json: { results: { evaluation_scores?: object[] }[] }) =>
    json.results.map(({ evaluation_scores: [one] = [] }) => one);

  it.each(['', 'null', 'None', 'N/A', 'na', '-', 'NaN', ' nan '])('%j is none, and counted', async (text) => {
    const report = new ImportReport();
    const { json } = await csv(table('0.5', text), { report });
    expect(scoresOf(json)).toEqual([{ key: 's', score: 0.5 }, undefined]);
    expect(report.json()).toMatchObject({ scores: { s: { [text.trim()]: 1 } } });
    expect(report.lines()).toEqual([expect.stringContaining('These values are no scores: s (1 ×')]);
  });

  it.each([
    ...['0,85', '50%', 'inf', '-Infinity', '1e400', '€ 5', '1.234,5', '0x1F', '#N/A', '1 000', '3/4', '8 / 10', '½'],
    ...['\u22120.5', '–1', '１', '٣', '<0.01', '≥ 3', '~5', '(2)', '1_000', "1'000", '-$3', '5 €', '1e5%'],
  ])('%j is refused with row and column, in CSV and in JSON, also where it stands alone', async (text) => {
    const place = /row 2 \(line 3\), column scores\.s: .* is no (finite )?number.*--text-scores s/;
    await expect(csv(table('0.5', text))).rejects.toThrow(place);
    await expect(csv(table(text))).rejects.toThrow(/row 1 \(line 2\), column scores\.s/);
    const line = JSON.stringify({ inputs: {}, scores: { s: text } });
    await expect(jsonl(line)).rejects.toThrow(/row 1 \(line 1\), column scores\.s: .*--text-scores s/);
    const listed = JSON.stringify({ inputs: {}, evaluation_scores: [{ key: 's', score: text }] });
    await expect(jsonl(listed)).rejects.toThrow(/column evaluation_scores\.s/);
    expect(scoresOf((await csv(table('0.5', text), { textScores: ['s'] })).json)).toEqual([
      { key: 's', value: '0.5' },
      { key: 's', value: text },
    ]);
  });

  it('are texts or numbers; the text among numbers is named, whichever comes first', async () => {
    await expect(csv(table('1', 'good'))).rejects.toThrow(
      /row 2 \(line 3\), column scores\.s: good is no number, but row 1 \(line 2\) has 1/,
    );
    await expect(csv(table('good', 'true'))).rejects.toThrow(/row 1 \(line 2\), column scores\.s: good/);
    expect(scoresOf((await csv(table('good', ' bad '))).json)).toEqual([
      { key: 's', value: 'good' },
      { key: 's', value: ' bad ' },
    ]);
  });

  it('understand what Python writes for numbers that JSON does not have, and nowhere else', async () => {
    const report = new ImportReport();
    const { json } = await jsonl('{"inputs": {"q": "NaN"}, "scores": {"s": NaN, "t": 1}}', { report });
    expect(scoresOf(json)).toEqual([{ key: 't', score: 1 }]);
    expect(report.json()).toMatchObject({ scores: { s: { NaN: 1 } } });
    for (const score of ['Infinity', '-Infinity', '1e999']) {
      await expect(jsonl(`{"inputs":{},"scores":{"s":${score}}}`)).rejects.toThrow(
        /row 1 \(line 1\), column scores\.s: .* is no finite number/,
      );
    }
    await expect(jsonl('{"inputs":{"q":NaN}}')).rejects.toThrow(/row 1 \(line 1\), column inputs: NaN and infinities/);
  });

  it('keep their digits, also with a decimal comma', async () => {
    const digits = ['0.10', '12345678901234567890', '0.1234567890123456789', '-1.50e-3'];
    for (const one of digits) {
      expect((await csv(table(one))).text).toContain(`"score":${one}}`);
      expect((await jsonl(`{"inputs":{},"scores":{"s":${one}}}`)).text).toContain(`"score":${one}}`);
      const comma = table(one.replace('.', ','));
      expect((await csv(comma, { decimal: ',' })).text).toContain(`"score":${one}}`);
    }
    expect((await csv(table('+.5', '007', '5.'))).text).toMatch(/"score":0\.5}.*"score":7}.*"score":5}/s);
    await expect(csv(table('0.85'), { decimal: ',' })).rejects.toThrow(/a decimal comma is expected/);
  });

  it('have a reason beside them, or are refused by name', async () => {
    const judged = { judge: { score: 0.5, reason: 'short' }, tone: { value: 'dry', comment: null }, none: {} };
    const { json } = await jsonl(JSON.stringify({ inputs: {}, scores: judged }));
    expect(json.results[0].evaluation_scores).toEqual([
      { key: 'judge', score: 0.5, comment: 'short' },
      { key: 'tone', value: 'dry' },
    ]);
    const columns = 'inputs.q,scores.judge,scores.judge.reason,scores.rouge.score\n1,N/A,no answer,0.5\n';
    expect((await csv(columns)).json.results[0].evaluation_scores).toEqual([
      { key: 'judge', comment: 'no answer' },
      { key: 'rouge.score', score: 0.5 },
    ]);
    await expect(jsonl('{"inputs":{},"scores":{"judge":{"score":1,"passed":true}}}')).rejects.toThrow(
      /the score judge has a member passed/,
    );
    await expect(jsonl('{"inputs":{},"scores":{"judge":[1]}}')).rejects.toThrow(/the score judge is a list/);
  });
});

describe('--map', () => {
  const line =
    '{"vars": {"word": "cat"}, "response": {"output": "chat", "usage": {"total": 11}}, "ms": 412, "match": 1.0, "filter": "strict"}';

  it('reaches into JSON, to several places, with units and keys from columns', async () => {
    const report = new ImportReport();
    const map = ['vars=inputs', 'vars=run_metadata.vars', 'response.output=actual_outputs.text', 'ms=latency:ms'];
    const given = { map: [...map, 'match=scores.{filter}/match'], report };
    const { json } = await jsonl(line, given);
    expect(json.results[0]).toMatchObject({
      inputs: { word: 'cat' },
      run_metadata: { vars: { word: 'cat' } },
      actual_outputs: { text: 'chat' },
      evaluation_scores: [{ key: 'strict/match', score: 1 }],
      end_time: '2026-03-01T00:00:00.412Z',
    });
    expect(report.json()).toMatchObject({ columns: { 'response.usage': 1 } });
  });

  it('warns of a latency that looks like milliseconds and is read as seconds', async () => {
    const report = new ImportReport();
    await csv('inputs.q,latencyMs\n1,412\n', { map: ['latencyMs=latency'], report });
    expect(report.lines()).toEqual([expect.stringContaining('--map latencyMs=latency:ms')]);
  });

  it('reaches into the JSON of a cell', async () => {
    const report = new ImportReport();
    const text = 'q;response\n1;"{""output"": 1.50, ""id"": 3}"\n2;\n';
    const { text: sent } = await csv(text, { map: ['q=inputs.q', 'response.output=actual_outputs.n'], report });
    expect(sent).toContain('"actual_outputs":{"n":1.50}');
    expect(report.json()).toMatchObject({ columns: { 'response.id': 1 } });
  });

  it.each([
    [['vars=inputs', 'respnse=actual_outputs'], /--map names respnse, .*Did you mean response\?/],
    [['vars=inputs', 'response.outptu=actual_outputs.a'], /Did you mean response\.output\?/],
    [['vars=inputs', 'match=scores.{filtre}/match'], /the key of match needs a text in filtre\. Did you mean filter\?/],
    [['vars=inputs', 'ms=latency:weeks'], /the unit of a latency is one of s, ms/],
    [['vars=inputs', 'ms=row_id', 'match=row_id'], /row_id comes twice/],
  ])('%j is refused', async (map, message) => {
    await expect(jsonl(line, { map })).rejects.toThrow(message);
  });
});

describe('What comes twice', () => {
  it.each([
    ['inputs.a,scores.s,scores.s\n1,1,2\n', /The column scores\.s comes twice/],
    ['inputs.a,inputs\n1,"{""b"":1,""b"":2}"\n', /column inputs: the member b comes twice/],
    ['inputs.a,scores\n1,"[{""key"":""k"",""score"":1},{""key"":""k"",""score"":0}]"\n', /the score of k comes twice/],
    ['inputs.a,scores.s,evaluation_scores.s\n1,1,2\n', /the score of s comes twice/],
  ])('in CSV is refused by name: %j', async (text, message) => {
    await expect(csv(text)).rejects.toThrow(message);
  });

  it.each([
    ['{"inputs":{},"inputs":{}}', /row 1 \(line 1\): the member inputs comes twice/],
    ['{"inputs":{"a":[{"b":1,"\\u0062":2}]}}', /the member inputs\.a\.b comes twice/],
    ['{"inputs":{},"scores":{"s":1},"scores.s":1}', /the score of s comes twice/],
  ])('in JSON is refused by name: %j', async (text, message) => {
    await expect(jsonl(text)).rejects.toThrow(message);
  });
});

describe('Any table', () => {
  /** Numbers that are the same in every run. */
  const random = (seed: number) => () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  const CELLS = ['plain', 'a,b', 'a;b', 'a\tb', '"quoted"', 'two\nlines', 'ä€😀', ' spaced ', '0,5', '{', '\\', '[1]'];

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('arrives the same from every form of file (%d)', async (seed) => {
    const next = random(seed);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!;
    const rows = Array.from({ length: 1 + Math.floor(next() * 20) }, () => ({
      inputs: { q: pick(CELLS), 'odd, name': pick(CELLS) },
      actual_outputs: { a: pick(CELLS) },
      scores: { n: `${Math.floor(next() * 1e6)}.${Math.floor(next() * 1e9)}0` },
    }));
    const names = ['inputs.q', 'inputs.odd, name', 'actual_outputs.a', 'scores.n'];
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
    const table = (between: string) =>
      [names, ...rows.map(({ inputs, actual_outputs: { a }, scores }) => [inputs.q, inputs['odd, name'], a, scores.n])]
        .map((cells) => cells.map(quoted).join(between))
        .join('\r\n');
    const objects = rows.map((row) => JSON.stringify(row).replace(/"n":"([\d.]+)"/, '"n":$1'));
    const size = 1 + Math.floor(next() * 50);
    const expected = (await jsonl(objects.join('\n'), { size })).json.results;
    expect(expected).toHaveLength(rows.length);
    for (const other of [
      await jsonl(`[${objects.join(',\n')}]`, { size }),
      await jsonl(` [ ${objects.join(' , ')} ] \n`, { size: 1 }),
      await csv(table(','), { size }),
      await csv(table(';'), { size }),
      await csv(table('\t'), { size }),
      await csv(table('|'), { size, delimiter: '|' }),
    ]) {
      expect(other.json.results).toEqual(expected);
      for (const { scores } of rows) expect(other.text).toContain(`"score":${scores.n}}`);
    }
  });

  it.each([
    ['[{"inputs":{}}', /the array is not closed/],
    ['[{"inputs":{}},]', /line 1: there is a comma without a row behind it/],
    ['[,{"inputs":{}}]', /a comma without a row before it/],
    ['[{"inputs":{}}] x', /text after the end of the array/],
    ['[{"inputs":{}},\n 1]', /row 2 \(line 2\): it is not a JSON object/],
    ['[]', /no rows/],
  ])('of a broken array is refused: %j', async (text, message) => {
    await expect(jsonl(text)).rejects.toThrow(message);
    await expect(jsonl(text, { size: 1 })).rejects.toThrow(message);
  });
});

it('splits JSON into its parts', () => {
  expect([...partsOf(' { } ')!]).toEqual([]);
  expect([...partsOf('{"a":1,"b" : {"c":[1,{"d":"]}"}]} , "\\u0065":null}')!]).toEqual([
    ['a', '1'],
    ['b', '{"c":[1,{"d":"]}"}]}'],
    ['e', 'null'],
  ]);
  expect([...partsOf('[1, [2,3] ,"]"]')!.values()]).toEqual(['1', '[2,3]', '"]"']);
  expect(partsOf('1')).toBeUndefined();
  expect(() => checkJson('{"a":[{"b":1},{"b":2}]}')).not.toThrow();
});
