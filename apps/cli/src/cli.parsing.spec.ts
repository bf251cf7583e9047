import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assigned } from './body/assignments';
import { connectionOf } from './api/connection';
import { EXIT } from './failure';
import { gateLimits } from './upload/gate';
import { labelValuesOption, rowFilter } from './upload/labels';
import { problemLines } from './api/problems';
import { writeProfile } from './api/profile';
import { retryPause } from './api/retry';
import { tableLines } from './output/table';
import { nearest } from './body/body-members';
import { bodyFile } from './body/body-file';
import { ago, bytes, clean, fit, fitEnd, width } from './output/text';

describe('Assignments', () => {
  it('make an object of JSON and text', () => {
    expect(assigned(['a.b=1', 'a.c=text with = and spaces', 'd=[{"e": null}]', 'f="1"', 'g='])).toEqual({
      a: { b: 1, c: 'text with = and spaces' },
      d: [{ e: null }],
      f: '1',
      g: '',
    });
  });

  it('cannot reach what every object has', () => {
    const made = assigned(['__proto__.polluted=1', 'constructor.x=2']);
    expect(Object.hasOwn(made, '__proto__')).toBe(true);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(JSON.stringify(made)).toBe('{"__proto__":{"polluted":1},"constructor":{"x":2}}');
  });

  it.each(['a', '=1', 'a..b=1', '.a=1'])('are not %j', (text) => {
    expect(() => assigned([text])).toThrow('is no assignment');
  });

  it('do not go into values', () => {
    expect(() => assigned(['a=1', 'a.b=2'])).toThrow('goes into a');
  });
});

describe('Limits of a gate', () => {
  it('are understood', () => {
    const expressions = [
      'correct>=-0.02',
      'cost<=.5',
      'mean(correct) >= 0.8',
      'mean(cost)<=2e-1',
      'worse(correct)<=3',
      'scored(correct)>=95%',
      'share(grade=C)>=80%',
      'share(grade=a=b)<=.2',
      'change(grade=C)>=-5%',
      'change(grade=C) <= 10 %',
      'difference(missing)>=0',
      'error_rate<=1%',
      'missing<=0',
      'latency_p50<=0.5',
      'latency_p99<=2',
    ];
    expect(gateLimits(expressions, new Set(['cost']))).toEqual({
      keys: {
        correct: { max_drop: 0.02, min_mean: 0.8, max_worse: 3, min_scored: 0.95 },
        cost: { max_drop: 0.5, max_mean: 0.2 },
        grade: { labels: { C: { min_share: 0.8, max_drop: 0.05, max_rise: 0.1 }, 'a=b': { max_share: 0.2 } } },
        missing: { max_drop: -0 },
      },
      max_error_rate: 0.01,
      max_missing: 0,
      max_latency_p50_increase: 0.5,
      max_latency_p99_increase: 2,
    });
  });

  it.each([
    'correct',
    'correct>0',
    'correct>=much',
    '>=1',
    'correct<=0.1',
    'cost>=0.1',
    'error_rate>=1',
    'worse(a)>=1',
    'scored(a)<=1',
    'scored(a)>=200%',
  ])('are not %j', (text) => {
    expect(() => gateLimits([text], new Set(['cost']))).toThrow(`--gate ${text}`);
  });

  it.each([
    ['worse(correct)<=0', 'worse(correct)<=3'],
    ['correct>=-0.02', 'difference(correct)>=-0.5'],
    ['error_rate<=1%', 'error_rate<=50%'],
  ])('is refused after another one of its kind: %s and %s', (first, second) => {
    expect(() => gateLimits([first, second], new Set())).toThrow(`--gate ${second}: there is a limit of this kind`);
  });
});

describe('Values of labels', () => {
  it('are understood', () => {
    expect(labelValuesOption('grade:C=1,P=0.5, I=-1e-1')).toEqual({ grade: { C: 1, P: 0.5, I: -0.1 } });
    expect(labelValuesOption('a:b:yes, sure=1,no=0', { grade: { C: 1 } })).toEqual({
      grade: { C: 1 },
      'a:b': { 'yes, sure': 1, no: 0 },
    });
    expect(labelValuesOption('{"a=b": {"c=d": 1}}')).toEqual({ 'a=b': { 'c=d': 1 } });
  });

  it.each(['grade', 'grade:C', 'grade:C=one', 'grade:C=1,P', 'C=1', 'grade:C=1,C=2', '{"grade"'])(
    'are refused as %s',
    (text) => {
      expect(() => labelValuesOption(text)).toThrow(`--label-values ${text}`);
    },
  );
});

describe('Filters of rows', () => {
  const id = '0198c1f0-0000-7000-8000-000000000001';
  it('are about the only experiment beside the baseline, or about the one that is named', () => {
    expect(rowFilter('worse,same:a:b', [id])).toBe(`${id}:worse,same:a:b`);
    expect(rowFilter('C->I:grade', [id])).toBe(`${id}:label=C,I:grade`);
    expect(rowFilter(`${id}:a:b, c -> *:grade`, [id, 'other'])).toBe(`${id}:label=a%3Ab%2C%20c,:grade`);
    expect(() => rowFilter('worse:grade', [id, 'other'])).toThrow(`${id}:worse:grade`);
    expect(() => rowFilter('worse:grade', [])).toThrow('ID:worse:grade');
  });
});

it('tells where the problems of an upload are', () => {
  const detail = [
    { type: 'missing', loc: ['body', 'results', 17, 'start_time'], msg: 'Field required' },
    { type: 'x', loc: ['body', 'results', 2, 'evaluation_scores', 0, 'key'], msg: 'Too long' },
    { type: 'x', loc: ['body'], msg: 'Value error, either dataset_id or dataset_name must be given' },
    { type: 'x', loc: ['query', 'limit'], msg: 'Too large' },
  ];
  expect(problemLines({ detail }, (row) => (row === 17 ? 18 : undefined))).toEqual([
    'row 18 (line 18): results[17].start_time: Field required',
    'row 3: results[2].evaluation_scores[0].key: Too long',
    'Value error, either dataset_id or dataset_name must be given',
    'limit: Too large',
  ]);
  expect(problemLines({ detail: 'One sentence.' })).toEqual(['One sentence.']);
  for (const other of [null, 'text', {}, { detail: 3 }]) expect(problemLines(other)).toBeUndefined();
});

describe('Trying again', () => {
  const reading = { repeatable: true, reading: true, reached: false, attempts: 1 };
  const writing = { ...reading, reading: false };

  it('waits as long as the service asks, else longer each time', () => {
    expect(retryPause({ status: 503, retryAfter: '3' }, reading)).toBe(3000);
    expect(retryPause({ status: 429 }, { ...writing, attempts: 3 })).toBe(2000);
    expect(retryPause({ error: 'ECONNRESET' }, writing)).toBe(500);
    expect(retryPause({ status: 504 }, reading)).toBe(500);
    const date = new Date(Date.now() + 20_000).toUTCString();
    expect(retryPause({ status: 503, retryAfter: date }, reading)).toBeGreaterThan(10_000);
    expect(retryPause({ error: 'ECONNREFUSED' }, { ...reading, reached: true })).toBe(500);
  });

  it.each([
    ['what cannot be repeated', { status: 503 }, { ...writing, repeatable: false }],
    ['for ever', { status: 503 }, { ...reading, attempts: 6 }],
    ['what was refused', { status: 400 }, reading],
    ['a conflict', { status: 409 }, writing],
    ['a write that may have been done', { status: 504 }, writing],
    ['where nobody ever answered', { error: 'ECONNREFUSED' }, reading],
  ])('is not done with %s', (_, outcome, attempted) => {
    expect(retryPause(outcome, attempted)).toBeUndefined();
  });
});

describe('The connection', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fairlead-connection-'));
    env = { XDG_CONFIG_HOME: folder, FAIRLEAD_DATA_DIR: folder };
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const options = { color: true };

  it('takes options before the environment, and both before what is kept', () => {
    const file = writeProfile(env, { url: 'https://kept.example/', key: 'kept-key', workspace: 'kept' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ key: 'kept-key' });
    expect(connectionOf(options, env)).toEqual({ url: 'https://kept.example', key: 'kept-key', workspace: 'kept' });
    const other = { ...env, FAIRLEAD_KEY: 'env-key', FAIRLEAD_WORKSPACE: 'env' };
    expect(connectionOf(options, other)).toEqual({ url: 'https://kept.example', key: 'env-key', workspace: 'env' });
    expect(connectionOf({ ...options, key: 'k', workspace: 'w', url: 'http://h/base/' }, other)).toEqual({
      url: 'http://h/base',
      key: 'k',
      workspace: 'w',
    });
  });

  it('gives a kept key to no other address', () => {
    writeProfile(env, { url: 'https://kept.example', key: 'kept-key' });
    expect(() => connectionOf({ ...options, url: 'https://other.example' }, env)).toThrow('No key for');
  });

  it("uses a local service's key file for local addresses only", () => {
    writeFileSync(join(folder, 'api-key'), 'local-key\n');
    expect(connectionOf(options, env)).toMatchObject({ url: 'http://127.0.0.1:4600', key: 'local-key' });
    expect(connectionOf({ ...options, url: 'http://localhost:1' }, env)).toMatchObject({ key: 'local-key' });
    const missing = expect.objectContaining({ exitCode: EXIT.refused }) as Error;
    expect(() => connectionOf({ ...options, url: 'https://fairlead.example' }, env)).toThrow(missing);
  });

  it.each(['fairlead', 'ftp://h', 'http://user:password@h', 'http://h?x=1'])('is not made to %s', (url) => {
    expect(() => connectionOf({ ...options, url, key: 'k' }, env)).toThrow('is no address');
  });

  it('refuses a key that cannot be one, and a profile that cannot be read', () => {
    expect(() => connectionOf({ ...options, key: 'a b' }, env)).toThrow('no key has');
    writeFileSync(writeProfile(env, {}), '{');
    expect(() => connectionOf({ ...options, key: 'k' }, env)).toThrow('config.json cannot be read');
  });
});

describe('Tables', () => {
  const columns = [
    { title: 'NAME', whole: true },
    { title: 'STATUS' },
    { title: 'RUNS', flexible: 'at its beginning' as const },
    { title: 'UPDATED', spare: true },
    { title: 'ID', id: true },
  ];
  const id = '0196b1f0-0000-7000-8000-000000000001';
  const row = (name: string, runs = 'registry.example.com/agent:1') => [name, 'READY', runs, '2 minutes ago', id];
  const at80 = (rows: readonly string[][]) => tableLines(columns, rows, (text) => text, 80);

  it('leave out ids first, then cut what is no name, then leave out times', () => {
    expect(tableLines(columns, [row('a')], (text) => text)[1]).toContain(id);
    expect(at80([row('a')])[1]).toBe('a     READY   registry.example.com/agent:1  2 minutes ago');
    expect(at80([row('n'.repeat(40))])[1]).toMatch(/^n{40} {2}READY {3}\S*…\S*:1 {2}2 minutes ago$/);
    expect(at80([row('n'.repeat(60))])[1]).toMatch(/^n{60} {2}READY {3}…nt:1$|^n{60} {2}READY {3}…\S+:1$/);
  });

  it.each([1, 30, 60, 79, 200, 500])('hold names of %i characters whole, in 80 columns', (length) => {
    const name = 'name '.repeat(length).slice(0, length).trim();
    const lines = at80([row(name, 'x'.repeat(300))]);
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(80);
    const first = lines.slice(1).map((line) => line.slice(0, lines[0]!.indexOf('STATUS')).trim());
    expect(first.join(' ').replaceAll(' ', '')).toBe(name.replaceAll(' ', ''));
  });
});

it.each([
  [0.2, 'now'],
  [1, '1 second ago'],
  [125, '2 minutes ago'],
  [7200, '2 hours ago'],
  [86_400 * 40, '1 month ago'],
  [-3601, 'in 1 hour'],
])('tells that something was %d seconds ago', (seconds, text) => {
  expect(ago(seconds)).toBe(text);
});

it.each([
  ['source_confg', 'source_config'],
  ['Nmae', 'name'],
  ['zzz', undefined],
])('knows the nearest word to %s', (word, near) => {
  expect(nearest(word, ['name', 'source', 'source_config', 'secrets'])).toBe(near);
});

describe('Files with bodies', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'fairlead-bodies-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return bodyFile(join(folder, name));
  };

  it('are JSON or YAML', () => {
    expect(read('a.yaml', '# a deployment\nname: a\nlist: [1, two]\nno: "2024"\n').value).toEqual({
      name: 'a',
      list: [1, 'two'],
      no: '2024',
    });
    expect(read('a.json', '{"n": 1.00}').json).toBe('{"n": 1.00}');
  });

  it.each([
    ['a.json', '{\n  "name": "a",\n  "x" 2\n}', /a\.json is not JSON: line 3: /],
    ['b.json', '{\n  "name": "a"\n', /b\.json is not JSON: line 2: /],
    ['a.yaml', 'name: a\nlist: [1\nother: 2\n', /a\.yaml is not YAML: line \d: /],
    ['b.yaml', 'name: a\nname: b\n', /b\.yaml is not YAML: line 2: Map keys must be unique/],
    ['c.yaml', '- 1\n', /c\.yaml must hold a YAML mapping/],
  ])('are refused with their name and line: %s %j', (name, text, message) => {
    expect(() => read(name, text)).toThrow(expect.objectContaining({ exitCode: EXIT.usage }) as Error);
    expect(() => read(name, text)).toThrow(message);
  });
});

describe('Text for a terminal', () => {
  it('cannot move the cursor or break lines', () => {
    expect(clean('a\u001b[31mred\u0007\r\n  b\tc\u202ed')).toBe('a\ufffd[31mred\ufffd b c\ufffdd');
    expect(clean('a\u061cb\u200ec\u200fd')).toBe('a\ufffdb\ufffdc\ufffdd');
  });

  it('is measured and cut as it is shown', () => {
    expect([width('abc'), width('日本'), width('e\u0301'), width('👩‍🚀')]).toEqual([3, 4, 1, 2]);
    expect([fit('abcdef', 6), fit('abcdefg', 6), fit('日本語', 5)]).toEqual(['abcdef', 'abcde…', '日本…']);
  });

  it('can be cut at its beginning', () => {
    expect([fitEnd('agent:1.4', 9), fitEnd('registry/agent:1.4', 9), fitEnd('日本語', 5)]).toEqual([
      'agent:1.4',
      '…gent:1.4',
      '…本語',
    ]);
  });

  it('tells sizes', () => {
    expect([0, 999, 1000, 92_861_012].map(bytes)).toEqual(['0 B', '999 B', '1.0 kB', '92.9 MB']);
  });

  it('stands in columns, of which some are cut where room is short', () => {
    const columns = [{ title: 'NAME', flexible: true }, { title: 'N', right: true }, { title: 'ID' }];
    const mark = (text: string) => `<${text}>`;
    const rows = [
      ['a long name', { text: '7', paint: mark }, 'x'],
      ['日本', '10', ''],
    ];
    expect(tableLines(columns, rows, (text) => text)).toEqual([
      'NAME          N  ID',
      'a long name   <7>  x',
      '日本         10',
    ]);
    expect(tableLines(columns, rows, (text) => text, 16)[1]).toBe('a long…    <7>  x');
  });
});
