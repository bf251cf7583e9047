import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import type { Activity } from '../api/records';
import { Cli, type Run } from '../testing/cli';

const KEY = 'cli-spec-operator-key';
let service: Standalone;
let database: TestDatabase;
let cli: Cli;
let id: string;
let lines: string[];
const fairlead = (args: string, options?: Run) => cli.run(args.split(' '), options);
/** As somebody who has nothing but the files. */
const verified = (file: string, keys = 'keys.json') =>
  fairlead(`audit verify ${file} --keys ${keys}`, { env: { FAIRLEAD_URL: 'http://127.0.0.1:1', FAIRLEAD_KEY: '' } });

beforeAll(async () => {
  cli = new Cli({ FAIRLEAD_KEY: KEY });
  database = await testDatabase([]);
  service = await startStandalone(
    readSettings({
      PORT: '0',
      DATABASE_URL: database.url,
      FAIRLEAD_DATA_DIR: join(cli.folder, 'data'),
      FAIRLEAD_API_KEY: KEY,
      LOG_LEVEL: 'silent',
      EXECUTOR: 'record',
      SEAL_EVERY: '1',
      SEAL_FILE: join(cli.folder, 'seals.jsonl'),
    }),
  );
  cli.env.FAIRLEAD_URL = service.url;
  const deployment = {
    name: 'audited',
    source: 'external_container',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example.com/agent:1' },
    secrets: [{ name: 'TOKEN', value: 'a-secret-value' }],
  };
  const input = JSON.stringify(deployment);
  ({ id } = await cli.json<{ id: string }>(['deployments', 'create', '-f', '-'], { input }));
  for (const tag of [2, 3]) {
    const set = `source_revision_config.image_uri=registry.example.com/agent:${tag}`;
    await cli.json(['deployments', 'patch', 'audited', '--set', set, '--reason', `release ${tag}`]);
  }
  expect(await fairlead('audit export audited -o history.jsonl')).toMatchObject({
    code: 0,
    err: 'Wrote history.jsonl.\n',
  });
  cli.file('keys.json', (await fairlead('audit keys')).out);
  lines = cli.read('history.jsonl').trimEnd().split('\n');
});
afterAll(async () => {
  await service?.stop();
  await database?.drop();
  cli?.remove();
});

it('audit log tells who did what, and who tried to', async () => {
  await fairlead('deployments list', { env: { FAIRLEAD_KEY: 'fl_unknown' } });
  const log = (...args: string[]) => cli.json<Activity[]>(['audit', 'log', ...args]);
  const operations = (entries: Activity[]) => entries.map(({ api }) => api.operation);
  // Each change is one entry with the revision that it makes.
  const wanted = [...Array<string>(2).fill('update_deployment'), 'create_deployment'];
  let found: string[] = [];
  while (found.length < wanted.length) {
    found = operations(await log('--resource', id)).filter((operation) => operation.endsWith('_deployment'));
  }
  expect(found).toEqual(wanted);
  expect(operations(await log('--operation', 'create_deployment', '--limit', '1'))).toEqual(['create_deployment']);
  expect(await log('--since', '2999-01-01')).toEqual([]);
  const all = await log('--all');
  expect(all.length).toBeGreaterThanOrEqual(found.length);
  const { out } = await fairlead(`audit log --resource ${id}`);
  expect(out).toMatch(
    new RegExp(
      `^TIME +OPERATION +RESOURCE +BY +REASON\n.*update_deployment +audited +FAIRLEAD_API_KEY +release 3`,
      's',
    ),
  );
  let refused = '';
  while (!refused.includes('401 GET')) refused = (await fairlead('audit log --refused')).out;
  expect(refused).toMatch(/401 GET +\/v2\/deployments/);
  expect((await fairlead('audit log --since yesterday')).code).toBe(2);
});

it('audit verify needs nothing but the history and the keys', async () => {
  const { code, out, err } = await verified('history.jsonl --head history.jsonl');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(
    new RegExp(`^deployment-${id}: ${lines.length - 1} events, as \\S+ signed them at \\d{4}-.*Z\n$`),
  );
  const asked = await cli.run(['audit', 'verify', '-', '--json'], { input: lines.join('\n') });
  expect(JSON.parse(asked.out)).toMatchObject({
    stream: `deployment-${id}`,
    events: lines.length - 1,
    unchecked: [expect.stringContaining('--keys'), expect.stringContaining('--seal')],
  });
});

it('audit verify without keys from outside says that it cannot tell whose signature it is', async () => {
  const { code, err } = await fairlead('audit verify history.jsonl');
  expect(code).toBe(6);
  expect(err).toMatch(/No keys were given \(--keys\): those of the service are used, which whoever can write/);
});

it('audit verify finds a history that was rewritten before it was exported, by a head that was kept', async () => {
  const [first, ...others] = lines.slice(0, -1);
  // Whoever can write to the database rewrites the events and their hashes, and the service signs what it finds.
  const forged: string[] = [];
  let hash = '';
  for (const line of [first!, ...others]) {
    const event = JSON.parse(line.replace('agent:1', 'agent:9')) as Record<string, unknown> & { metadata: object };
    if ('previous' in event.metadata) event.metadata = { ...event.metadata, previous: hash };
    const { id, stream, version, type, data, metadata, time } = event;
    forged.push(JSON.stringify(event));
    hash = createHash('sha256')
      .update(JSON.stringify([hash, stream, version, id, type, data, metadata, time]))
      .digest('base64url');
  }
  const pair = generateKeyPairSync('ed25519');
  const head = { stream: `deployment-${id}`, version: forged.length, hash, exported_at: '2026-01-01T00:00:00.000Z' };
  const said = JSON.stringify(['fairlead stream', head.stream, head.version, head.hash, head.exported_at]);
  const signature = sign(null, Buffer.from(said), pair.privateKey).toString('base64url');
  cli.file('forged.jsonl', [...forged, JSON.stringify({ head, key_id: 'planted', signature })].join('\n'));
  const planted = { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), kid: 'planted' }] };
  cli.file('planted.json', JSON.stringify(planted));
  expect(await verified('forged.jsonl')).toMatchObject({ code: 1, err: expect.stringContaining('not among the keys') });
  // As if the key of the installation had signed it.
  const signed = await verified('forged.jsonl', 'planted.json');
  expect(signed).toMatchObject({
    code: 6,
    err: expect.stringContaining('Not checked: whether the history was rewritten'),
  });
  for (const kept of [
    'history.jsonl',
    `${JSON.parse(lines.at(-1)!).head.version}:${JSON.parse(lines.at(-1)!).head.hash}`,
  ]) {
    const { code, err } = await verified(`forged.jsonl --head ${kept}`, 'planted.json');
    expect([code, err]).toEqual([1, expect.stringMatching(/it is not the history that the head was kept of/)]);
    expect(await verified(`history.jsonl --head ${kept}`)).toMatchObject({ code: 0, err: '' });
  }
  expect((await verified('history.jsonl --head nonsense')).code).toBe(2);
});

const patched = () => lines.findIndex((line) => line.includes('"DeploymentPatched"'));
it.each<[string, () => string[], RegExp]>([
  [
    'a changed event',
    () => lines.map((line) => line.replace('agent:2', 'agent:9')),
    /not those that were exported: the fault is before line \d+\./,
  ],
  ['a removed event', () => lines.toSpliced(patched(), 1), /^Error: Line \d+: version \d+ of deployment-/],
  ['events in another order', () => [lines[1]!, lines[0]!, ...lines.slice(2)], /^Error: Line 1: version 1 of /],
  ['a removed end', () => lines.toSpliced(-2, 1), /It holds \d+ events, and \d+ were exported/],
  ['no signature', () => lines.slice(0, -1), /The last line, which holds the signature, is missing/],
  [
    'another head',
    () => [...lines.slice(0, -1), lines.at(-1)!.replace(/"version":\d+/, '"version":1')],
    /signature is wrong/,
  ],
  ['more behind it', () => [...lines, lines[0]!], /something follows after the signature/],
  ['a line that is none', () => ['?', ...lines], /^Error: Line 1 is not a JSON object/],
  ['a line of something else', () => ['{"name": "agent"}', ...lines], /^Error: Line 1 is no event of an exported/],
])('audit verify finds %s', async (_, changed, message) => {
  cli.file('changed.jsonl', changed().join('\n'));
  expect(await verified('changed.jsonl')).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
});

it('audit verify says what it cannot use', async () => {
  cli.file('others.json', '{"keys": []}');
  cli.file('wrong.json', '[]');
  expect(await verified('history.jsonl', 'others.json')).toMatchObject({
    code: 1,
    err: expect.stringContaining('not among the keys'),
  });
  expect(await verified('history.jsonl', 'wrong.json')).toMatchObject({
    code: 2,
    err: 'Error: wrong.json holds no keys.\n',
  });
  expect(await verified('missing.jsonl')).toMatchObject({
    code: 2,
    err: expect.stringContaining('cannot be read: it does not exist'),
  });
  expect((await fairlead('audit export nobody')).code).toBe(5);
});

describe('the export of a workspace', () => {
  let exported: string[];
  let other: string;
  /** Exports the workspace until each of its events is under a seal that was sent out. */
  const exportSealed = async (file: string) => {
    for (let code: unknown = 6; code === 6;) {
      expect(await fairlead(`audit export -o ${file}`)).toMatchObject({ code: 0, err: `Wrote ${file}.\n` });
      ({ code } = await verified(`${file} --seal seals.jsonl`));
      expect([0, 6]).toContain(code);
    }
  };
  const patch = (tag: string) =>
    cli.json([
      'deployments',
      'patch',
      'audited',
      '--set',
      `source_revision_config.image_uri=registry.example.com/${tag}`,
    ]);

  beforeAll(async () => {
    // Somebody else is at work between the events of this workspace, and takes over a name that was given back.
    const workspace = async () =>
      (
        await cli.json<{ id: string }>([
          'workspaces',
          'create',
          '--display-name',
          'next door',
          '--tenant-handle',
          'next-door',
        ])
      ).id;
    const first = await workspace();
    expect(await fairlead(`workspaces remove ${first} --yes`)).toMatchObject({ code: 0 });
    let taken: string | undefined;
    while (taken === undefined) taken = await workspace().catch(() => undefined);
    other = taken;
    const env = { FAIRLEAD_WORKSPACE: other };
    const body = { name: 'secret-project', source: 'external_container', source_config: {}, secrets: [] };
    const input = JSON.stringify({ ...body, source_revision_config: { image_uri: 'registry.example.com/other:1' } });
    expect(await fairlead('deployments create -f -', { input, env })).toMatchObject({ code: 0 });
    await patch('agent:4');
    await exportSealed('workspace.jsonl');
    exported = cli.read('workspace.jsonl').trimEnd().split('\n');
    expect(await fairlead('audit export -o other.jsonl', { env })).toMatchObject({ code: 0 });
  });

  it('is verified with what was kept, and says what it does not show', async () => {
    const { code, out, err } = await verified('workspace.jsonl --head workspace.jsonl');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^workspace 0{8}-\S+: \d+ events in \d+ streams under \d+ seals, up to position \d+ of the log, as \S+ signed/,
      ),
    ]);
    expect(err).toMatch(/^Not in it: Whether the service left out events or streams .* with npm run audit -- --keys/);
    expect((await verified('workspace.jsonl')).code).toBe(6);
    const { head } = JSON.parse(exported.at(-1)!);
    const { unchecked } = await cli.json<{ unchecked: string[] }>(
      `audit verify workspace.jsonl --keys keys.json --head ${head.events}:${head.hash}`.split(' '),
    );
    expect(unchecked).toEqual([]);
  });

  it('gets no verdict on what nothing that was kept vouches for', async () => {
    await patch('agent:5');
    await exportSealed('later.jsonl');
    expect(await verified('later.jsonl --head workspace.jsonl')).toMatchObject({
      code: 6,
      err: expect.stringMatching(/No verdict on \d+ of \d+ events, from version \d+ of \S+ on: no head or seal/),
    });
    // A seal vouches for those before it.
    cli.file('newest.jsonl', cli.read('seals.jsonl').trimEnd().split('\n').at(-1)!);
    expect(await verified('later.jsonl --seal newest.jsonl')).toMatchObject({ code: 0 });
    cli.file('oldest.jsonl', cli.read('seals.jsonl').split('\n')[0]!);
    expect(await verified('later.jsonl --seal oldest.jsonl')).toMatchObject({ code: 6 });
    expect(await verified('workspace.jsonl --seal newest.jsonl')).toMatchObject({
      err: expect.stringMatching(/No verdict on the end: seal \d+ is later than the seals of the export/),
    });
  });

  it('shows nothing of other workspaces, nor secrets', () => {
    const [mine, others] = [exported.join('\n'), cli.read('other.jsonl')];
    expect(others).toContain('secret-project');
    for (const word of ['secret-project', 'other:1', 'a-secret-value']) expect(mine).not.toContain(word);
    for (const word of [id, 'audited', 'agent:1']) expect(others).not.toContain(word);
    // Of the name that both workspaces had, only who made them is known here.
    expect(mine).toMatch(/^\{"foreign":\{"stream":"\w+-[0-9a-f]{64}","version":\d,/m);
  });

  const [event, seal] = [(line: string) => line.startsWith('{"id"'), (line: string) => line.startsWith('{"seal"')];
  const patched = () => exported.findIndex((line) => line.includes('"DeploymentPatched"'));
  it.each<[string, () => string[], RegExp]>([
    [
      'a changed event',
      () => exported.map((line) => line.replace('agent:2', 'agent:9')),
      /the events before it are not what seal \d+ sealed/,
    ],
    ['a removed event', () => exported.toSpliced(patched(), 1), /Line \d+: version \d+ of deployment-\S+ belongs here/],
    [
      'an event that is there twice',
      () => exported.toSpliced(patched(), 0, exported[patched()]!),
      /Line \d+: version \d+ of deployment-\S+ belongs here/,
    ],
    [
      'an event that was added at the end of a stream',
      () => {
        const last = exported.filter(event).at(-1)!;
        const { version, ...rest } = JSON.parse(last);
        return exported.toSpliced(-1, 0, JSON.stringify({ ...rest, version: version + 1 }));
      },
      /It holds \d+ events, and \d+ were exported/,
    ],
    [
      'events of two streams in another order',
      () => {
        const at = exported.findIndex(
          (line, n) => event(line) && event(exported[n + 1]!) && streamOf(line) !== streamOf(exported[n + 1]!),
        );
        return exported.toSpliced(at, 2, exported[at + 1]!, exported[at]!);
      },
      /the events before it are not what seal \d+ sealed|not those that were exported/,
    ],
    [
      'a stream that is not there',
      () => exported.filter((line) => !line.includes(`"stream":"deployment-${id}"`)),
      /the events before it are not what seal \d+ sealed/,
    ],
    [
      'a stream that is not there, nor the seals over it',
      () => exported.filter((line) => !line.includes(`"stream":"deployment-${id}"`) && !seal(line)),
      /It holds \d+ events, and \d+ were exported/,
    ],
    [
      'a stream that is not there, with other numbers in the head',
      () =>
        exported
          .filter((line) => !line.includes(`"stream":"deployment-${id}"`) && !seal(line))
          .map((line, _, all) => line.replace(/"events":\d+/, `"events":${all.filter(event).length}`)),
      /The signature is wrong/,
    ],
    [
      'a removed seal',
      () => exported.toSpliced(exported.findIndex(seal), 1),
      /^Error: (Line \d+: the events|Seal 2 does not follow|It holds)/,
    ],
    [
      'a removed newest seal',
      () => exported.toSpliced(exported.findLastIndex(seal), 1),
      /It holds \d+ seals, and \d+ were exported/,
    ],
    ['a seal twice', () => exported.toSpliced(-1, 0, exported.findLast(seal)!), /seal \d+ is not in its place/],
    [
      'a proof of other places',
      () => exported.map((line) => line.replace(/"at":\[\d+/, '"at":[0.5')),
      /The proof of seal \d+ cannot be read/,
    ],
    ['a file that was cut off', () => exported.slice(0, -1), /It is not complete: the last line/],
    [
      'a file that was cut off within a line',
      () => [...exported.slice(0, 9), exported[9]!.slice(0, 40)],
      /Line 10 is not a JSON object/,
    ],
    [
      'an event of another workspace',
      () => exported.toSpliced(2, 0, cli.read('other.jsonl').split('\n').find(event)!),
      /Line 3: the event is of another workspace/,
    ],
    [
      'the first line of another workspace',
      () => exported.with(0, cli.read('other.jsonl').split('\n')[0]!),
      /Line 2: the event is of another workspace/,
    ],
    ['more behind it', () => [...exported, exported[1]!], /something follows after the signature/],
    [
      'a member that was added',
      () => exported.with(1, exported[1]!.replace('{', '{"note":"approved",')),
      /Line 2: no signature covers its member note/,
    ],
    [
      'a member that is there twice',
      () => exported.with(1, exported[1]!.replace('{', '{"type":"Approved",')),
      /Line 2 is not written as it was exported/,
    ],
    [
      'another time in the first line',
      () => exported.with(0, exported[0]!.replace(/"exported_at":"\d{4}/, '"exported_at":"2001')),
      /Line 1 names another position or time/,
    ],
    [
      'a line of something else',
      () => exported.toSpliced(1, 0, '{"name": "agent"}'),
      /Line 2 is no line of an exported workspace/,
    ],
  ])('audit verify finds %s', async (_, changed, message) => {
    expect(changed()).not.toEqual(exported);
    cli.file('changed.jsonl', changed().join('\n'));
    expect(await verified('changed.jsonl')).toMatchObject({ code: 1, out: '', err: expect.stringMatching(message) });
  });

  it('is not taken for that of another workspace, signed with another key, or for one history', async () => {
    const of = (workspace: string) => verified(`workspace.jsonl --of ${workspace} --head workspace.jsonl`);
    expect(await of(JSON.parse(exported[0]!).workspace)).toMatchObject({ code: 0 });
    expect(await of(other)).toMatchObject({ code: 1, err: expect.stringContaining(`, not of ${other}.`) });
    for (const [file, keys, message] of [
      ['workspace.jsonl --head other.jsonl', 'keys.json', 'and the head that was kept is of'],
      ['workspace.jsonl --head history.jsonl', 'keys.json', 'The head that was kept is of the history deployment-'],
      ['history.jsonl --head workspace.jsonl', 'keys.json', 'The head that was kept is of the workspace'],
      [`history.jsonl --of ${other}`, 'keys.json', 'It is the history of one deployment'],
      ['workspace.jsonl', 'none.json', 'not among the keys'],
      ['workspace.jsonl', 'swapped.json', 'is wrong'],
    ] as const) {
      const pair = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
      const { kid } = JSON.parse(cli.read('keys.json')).keys[0];
      cli.file('swapped.json', JSON.stringify({ keys: [{ ...pair, kid }] }));
      cli.file('none.json', '{"keys": []}');
      expect(await verified(file, keys)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    }
  });

  it('takes the scope admin', async () => {
    const key = await cli.json<{ key: string }>(['keys', 'create', '--description', 'reader', '--scopes', 'read']);
    expect(await fairlead('audit export', { env: { FAIRLEAD_KEY: key.key } })).toMatchObject({ code: 4, out: '' });
  });
});

function streamOf(line: string): string {
  return (JSON.parse(line) as { stream: string }).stream;
}

describe('audit verdict', () => {
  let [deployment, revision, experiment] = ['', '', ''];

  async function evaluate(of: string, wrong: number) {
    const time = new Date().toISOString();
    const response = await fetch(`${service.url}/api/v1/datasets/upload-experiment`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ experiment_name: `of ${of}`, dataset_name: 'questions', experiment_metadata: { revision_id: of } },
        ...{ experiment_start_time: time, experiment_end_time: time },
        results: Array.from({ length: 100 }, (_, place) => ({
          ...{ row_id: `0196b1f0-0000-7000-8000-${String(place).padStart(12, '0')}`, run_name: 'agent' },
          ...{ inputs: { place }, actual_outputs: { place }, start_time: time, end_time: time },
          evaluation_scores: [{ key: 'correct', score: place < wrong ? 0 : 1 }],
        })),
      }),
    });
    return (await response.json()) as { dataset: { id: string }; experiment: { id: string } };
  }

  /** Changes the event that says the verdict, as somebody who can write to the database. */
  const rewrite = async (from: string, to: string) => {
    const text = `update events set data = replace(data::text, $1, $2)::json
      where stream = $3 and position($1 in data::text) > 0 and data::text like '%"rows":10%'`;
    const { rowCount } = await database.pool.query(text, [from, to, `gate-${revision}`]);
    expect(rowCount).toBe(1);
  };
  const verdict = () => fairlead(`audit verdict judged ${revision}`);

  beforeAll(async () => {
    const image = (tag: number) => ({ source_revision_config: { image_uri: `registry.example.com/judged:${tag}` } });
    const body = { name: 'judged', source: 'external_container', source_config: {}, secrets: [], ...image(1) };
    const create = ['deployments', 'create', '--wait', '-f', '-'];
    const first = await cli.json<{ id: string; latest_revision_id: string }>(create, { input: JSON.stringify(body) });
    deployment = first.id;
    const { dataset } = await evaluate(first.latest_revision_id, 10);
    const gates = [{ name: 'questions', dataset_id: dataset.id, keys: { correct: { max_drop: 0.05 } } }];
    cli.file('gates.json', JSON.stringify({ gates }));
    expect(await fairlead('deployments set-gates judged --file gates.json')).toMatchObject({ code: 0 });
    const patch = ['deployments', 'patch', 'judged', '-f', '-'];
    const second = await cli.json<{ latest_revision_id: string }>(patch, { input: JSON.stringify(image(2)) });
    revision = second.latest_revision_id;
    // No gate held the first one.
    expect(await fairlead(`audit verdict judged ${first.latest_revision_id}`)).toMatchObject({ code: 5 });
    experiment = (await evaluate(revision, 9)).experiment.id;
    while ((await fairlead('deployments wait judged')).code === 7);
  });

  it('computes the numbers of the log again', async () => {
    const { code, out, err } = await verdict();
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^outcome +promote$/m);
    expect(out).toMatch(/^repeated +(\d+) of \1 values are identical$/m);
    const { recorded, repeated } = await cli.json<{ recorded: object; repeated: object }>(
      `audit verdict ${deployment} ${revision}`.split(' '),
    );
    expect(recorded).toEqual(repeated);
    expect(recorded).toMatchObject({ gates: [{ criteria: [{ rows: 100, outcome: 'promote' }] }] });
  });

  it.each([
    ['a number', '"rows":100', '"rows":101', /gates\[0\]\.criteria\[0\]\.rows +101 +100/],
    ['the outcome', '"outcome":"promote","reasons"', '"outcome":"refuse","reasons"', /outcome +"refuse" +"promote"/],
  ])('finds %s that was changed in the log', async (_, from, to, line) => {
    await rewrite(from, to);
    try {
      expect(await verdict()).toMatchObject({ code: 1, out: expect.stringMatching(line) });
    } finally {
      await rewrite(to, from);
    }
  });

  it('passes nothing whose method it does not know, or whose scores have changed or are gone', async () => {
    await rewrite('bounds-1', 'bounds-0');
    const unrepeated = (reason: string) => ({
      code: 6,
      err: expect.stringContaining(`It cannot be repeated: ${reason}`),
    });
    expect(await verdict()).toMatchObject(unrepeated('This version does not compute with the method bounds-0.'));
    await rewrite('bounds-0', 'bounds-1');
    expect(await verdict()).toMatchObject({ code: 0 });
    const [run] = await cli.json<{ id: string }[]>(`runs list --session ${experiment} --limit 1`.split(' '));
    await cli.json(`feedback create --run-id ${run!.id} --feedback-key correct --score 0.5`.split(' '));
    let found = await verdict();
    while (found.code === 0) found = await verdict();
    expect(found).toMatchObject(unrepeated('The scores have changed: their hash is '));
    expect(await fairlead(`experiments delete ${experiment} --yes`)).toMatchObject({ code: 0 });
    while (found.err.includes('hash')) found = await verdict();
    expect(found).toMatchObject(unrepeated(`The experiment of ${revision} (${experiment}) is gone.`));
  });
});
