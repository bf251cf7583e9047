import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SampleServer, startSample } from './testing/sample-server';

const DEPLOYMENTS = '/v2/deployments';
const ONE = `${DEPLOYMENTS}/12345678-1234-5678-1234-567812345678`;
const UPLOAD = '/api/v1/datasets/upload-experiment';
const json = (method: string, body?: string) => ({ method, body, headers: { 'content-type': 'application/json' } });

/** The requests that the recorded answers belong to, by the name of their line. */
const requests: Record<string, [string, { method?: string; body?: string; headers?: Record<string, string> }?]> = {
  limit0: [`${DEPLOYMENTS}?limit=0`],
  limit101: [`${DEPLOYMENTS}?limit=101`],
  limitabc: [`${DEPLOYMENTS}?limit=abc`],
  'limit1.5': [`${DEPLOYMENTS}?limit=1.5`],
  'offset-1&type': [`${DEPLOYMENTS}?deployment_type=x&offset=-1`],
  bool: [`${DEPLOYMENTS}?remote_reconciled=maybe`],
  ...Object.fromEntries(
    ['true', '1', 'on', 'yes', 'T', 'y', '0', 'off'].map((word) => [
      `bool ${word}`,
      [`${DEPLOYMENTS}?remote_reconciled=${word}`],
    ]),
  ),
  uuidpath: [`${DEPLOYMENTS}/abc`],
  enum: [ONE, json('PATCH', '{"revision_source":"zip"}')],
  notjson: [ONE, json('PATCH', '{nope')],
  array: [ONE, json('PATCH', '[]')],
  nobody: [ONE, { method: 'PATCH' }],
  nullbody: [ONE, json('PATCH', ' null ')],
  nullupload: [UPLOAD, json('POST', 'null')],
  wrongct: [ONE, { method: 'PATCH', body: '{}', headers: { 'content-type': 'text/plain' } }],
  many: [
    UPLOAD,
    json(
      'POST',
      JSON.stringify({
        experiment_name: 1,
        experiment_start_time: 'yesterday',
        experiment_end_time: null,
        dataset_id: 'x',
        results: [{ row_id: 'z', inputs: [], evaluation_scores: [{ score: 'a' }] }],
      }),
    ),
  ],
  resultsstr: [
    UPLOAD,
    json(
      'POST',
      '{"experiment_name":"a","experiment_start_time":"2026-01-01","experiment_end_time":"2026-01-02","results":"no"}',
    ),
  ],
  '404': ['/v2/nothing'],
  '405': [DEPLOYMENTS, { method: 'PUT' }],
};

/** Lines that are answered otherwise here: a missing key is a 401, and an empty query value means no filter. */
const exceptions = ['noheader', 'bool '];

const fixtures = readFileSync(join(__dirname, 'testing/error-fixtures.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [, name = '', status = '', rest = ''] = /^(.*?) (\d{3}) (.*)$/.exec(line) ?? [];
    return { name, status: Number(status), rest };
  });

describe('Recorded answers', () => {
  let server: SampleServer;
  beforeAll(async () => {
    server = await startSample();
  });
  afterAll(() => server.app.close());

  const ask = async ([path, { headers, ...rest } = {}]: [string, (typeof requests)[string][1]?], key = 'owner') => {
    const answer = await fetch(server.url + path, { ...rest, headers: { 'x-api-key': key, ...headers } });
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      body: await answer.json(),
    };
  };

  it('are all tried or explained', () => {
    expect(fixtures.map(({ name }) => name).filter((name) => !exceptions.includes(name))).toEqual(
      Object.keys(requests).sort((a, b) => order(a) - order(b)),
    );
    function order(name: string) {
      return fixtures.findIndex((fixture) => fixture.name === name);
    }
  });

  it.each(fixtures.filter(({ name }) => !exceptions.includes(name)))('$name', async ({ name, status, rest }) => {
    const answer = await ask(requests[name] as (typeof requests)[string]);
    expect(answer.status).toBe(status);
    if (rest.startsWith('application/json ')) {
      expect(answer.type).toBe('application/json');
      expect(answer.body).toEqual(JSON.parse(rest.slice('application/json '.length)));
    } else {
      const [, value] = /'remote_reconciled': (True|False)/.exec(rest) ?? [];
      expect(answer.body).toMatchObject({ remote_reconciled: value === 'True' });
    }
  });

  it('noheader: a missing key is a 401', async () => {
    expect(await ask([DEPLOYMENTS], '')).toMatchObject({ status: 401, body: { detail: 'Invalid token' } });
  });

  it('bool: an empty value means no filter', async () => {
    const answer = await ask([`${DEPLOYMENTS}?remote_reconciled=&limit=&deployment_ids=,`]);
    expect(answer).toMatchObject({ status: 200, body: { limit: 20, offset: 0 } });
    expect(answer.body).not.toHaveProperty('remote_reconciled');
  });
});
