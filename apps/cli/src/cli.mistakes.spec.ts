import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cli } from './testing/cli';
import { Double, json } from './testing/double';

const ID = '0196b1f0-0000-7000-8000-000000000001';

let double: Double;
let cli: Cli;
beforeAll(async () => {
  double = new Double();
  cli = new Cli({ FAIRLEAD_URL: await double.start(), FAIRLEAD_KEY: 'a-key' });
  double.answer = (_, response) => json(response, 500, { detail: 'A request came.' });
  cli.file('text.json', 'not json {');
});
afterAll(() => {
  double.stop();
  cli.remove();
});

describe('A mistake in the command line ends it with 2, is named, and nothing is sent', () => {
  it.each([
    [['deployments', 'lst'], "unknown command 'lst'"],
    [['deployments', 'get'], "missing required argument 'deployment'"],
    [['deployments', 'get', ID, '--at', 'noon'], 'noon'],
    [['deployments', 'list', '--deployment-type', 'cheap'], 'cheap'],
    [['deployments', 'list', '--limit', 'many'], 'many'],
    [['deployments', 'patch', ID, '--if-match', 'last', '--set', 'name=b'], 'last'],
    [['deployments', 'patch', ID, '--set', 'nme=b'], 'nme'],
    [['deployments', 'create', '-f', 'text.json'], 'text.json is not JSON: line 1'],
    [['deployments', 'create', '-f', 'nowhere.json'], 'nowhere.json cannot be read: it does not exist'],
    [['deployments', 'create', '-f', '.'], '. cannot be read: it is a folder'],
    [['deployments', 'rollback', 'agent', 'first'], '"first" is no id'],
    [['revisions', 'interrupt', 'agent', 'first'], '"first" is no id'],
    [['experiments', 'compare', 'a', 'b', '--gate', 'rubbish'], '--gate rubbish'],
    [['experiments', 'compare', 'a', 'b', '--gate', 'error_rate>=1'], '--gate error_rate>=1'],
    [['experiments', 'compare', 'a', 'a'], 'Name two experiments'],
    [['experiments', 'upload', 'nowhere.csv', '--dataset', 'd'], 'nowhere.csv cannot be read'],
    [['runs', 'list', '--start-time', 'noon'], 'noon'],
    [['webhooks', 'create', '--enabled', 'perhaps'], 'perhaps'],
    [['api', 'FETCH', '/v2/deployments'], 'FETCH'],
    [['api', 'GET', 'v2/deployments'], 'v2/deployments is no path'],
    [['api', 'GET', '/v2/deployments', '-q', 'limit'], '--query limit'],
    [['version', '--jq', '.version | foo('], '--jq .version | foo('],
    [['version', '--timeout', 'soon'], 'soon'],
    [['version', '--url', 'nowhere'], 'nowhere'],
    [['secrets', 'set', 'agent', 'A=1', 'A=2'], 'A is given twice'],
    [['help', 'deployments', 'lst'], 'deployments lst'],
  ])('%j', async (args, named) => {
    const { code, out, err } = await cli.run(args);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(named) });
    expect(err).not.toMatch(/\bE[A-Z]{4,}|If-Match|undefined|\n {4}at /);
    expect(double.seen).toEqual([]);
  });
});

describe('A value that only the service can refuse', () => {
  it.each([
    [['key', 'create', '--scopes', 'god'], ['body', 'scopes', 0], 'god'],
    [['runs', 'get', 'no-uuid'], ['path', 'run_id'], 'no-uuid'],
    [['api', 'GET', '/v2/deployments', '-q', 'limit=900'], ['query', 'limit'], '900'],
  ])('of %j ends it with 2 and is named', async (args, loc, input) => {
    const other = new Double();
    const url = await other.start();
    other.answer = (_, response) => json(response, 422, { detail: [{ type: 'x', loc, msg: 'Not accepted', input }] });
    const { code, err } = await cli.run(args, { env: { FAIRLEAD_URL: url } });
    other.stop();
    const place = String(loc[1]);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(`^Error: ${place}.*: Not accepted \\(given: "${input}"\\)\n$`),
    ]);
  });

  it('is not shown where it is a secret', async () => {
    const other = new Double();
    const url = await other.start();
    const detail = [{ type: 'x', loc: ['body', 'client_secret'], msg: 'Not accepted', input: '[redacted]' }];
    other.answer = (_, response) => json(response, 422, { detail });
    const ended = await cli.run(['providers', 'patch', 'calendar', '--client-secret', 's'], {
      env: { FAIRLEAD_URL: url },
    });
    other.stop();
    expect(ended).toMatchObject({ code: 2, err: 'Error: --client-secret: Not accepted\n' });
  });
});

it('The edition that has changed is told without words of HTTP', async () => {
  const other = new Double();
  const url = await other.start();
  other.answer = (_, response) =>
    json(response, 412, { detail: 'The resource has changed: If-Match names another version.' });
  const args = ['webhooks', 'patch', ID, '--if-match', '3', '--enabled', 'false'];
  const ended = await cli.run(args, { env: { FAIRLEAD_URL: url } });
  other.stop();
  expect(ended).toMatchObject({ code: 1, err: expect.stringMatching(/^Error: It has changed/) });
});

it('A file that is not UTF-8 is refused instead of being changed', async () => {
  writeFileSync(join(cli.folder, 'latin.env'), Buffer.from('A=gr\xfc\xdfe\n', 'latin1'));
  const ended = await cli.run(['secrets', 'set', 'agent', '-f', 'latin.env']);
  expect(ended).toMatchObject({ code: 2, err: 'Error: latin.env is not UTF-8 text.\n' });
  const table = 'inputs.a,scores.s\n1,1\n';
  const others = [Buffer.from('gr\xfc\xdfe', 'latin1'), Buffer.from(table, 'utf16le'), Buffer.from('PK\x03\x04\x14\0')];
  for (const content of others) {
    writeFileSync(join(cli.folder, 'other.csv'), content);
    expect(await cli.run(['experiments', 'upload', 'other.csv', '--dataset', 'd'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Error: other.csv is not UTF-8 text: save it as UTF-8 first. Known are CSV'),
    });
  }
});

it.each(['.inf', '.nan', '12345678901234567890', '1e400'])(
  'The number %s of a YAML file or an assignment is refused instead of being changed',
  async (number) => {
    writeFileSync(join(cli.folder, 'numbers.yaml'), `extra:\n  - ${number}\n`);
    const said = expect.stringMatching(/has the number .*, whose digits cannot be kept/);
    expect(await cli.run(['datasets', 'create', '-f', 'numbers.yaml'])).toMatchObject({ code: 2, err: said });
    if (number.startsWith('.')) return;
    const args = [
      'experiments',
      'upload',
      cli.file('n.csv', 'inputs.a\n1\n'),
      '--dataset',
      'd',
      '--metadata',
      `m=${number}`,
    ];
    expect(await cli.run(args)).toMatchObject({ code: 2, err: said });
    expect(double.seen).toEqual([]);
  },
);
