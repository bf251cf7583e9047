import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { v4 as newId } from 'uuid';
import { type Answer, type Reading, startReading, zstd } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

interface Item {
  readonly kind: 'run' | 'feedback';
  readonly id: string;
  readonly isGood: boolean;
  /** True: it is stored, without a part that is named. */
  /** JSON text of the item. */
  readonly text: string;
}

const name = () => `batch-${newId()}`;
const json = (value: object) => JSON.stringify(value);
type Make = (id: string, session_name: string) => string;
const run = (members: object): Make => {
  return (id, session_name) => json({ id, name: 'r', session_name, inputs: { q: 1 }, ...members });
};
const GOOD: Readonly<Record<string, Make>> = {
  usual: run({}),
  'without a name': run({ name: '' }),
  'of its own type': run({ run_type: 'agent' }),
  'that repeats itself': run({ inputs: { text: 'again '.repeat(50_000) } }),
  'with text of all kinds': run({ outputs: { text: '\ud83d\ude00 \u0007 "\\' }, tags: ['\u0000'] }),
};
const BAD: Readonly<Record<string, Make>> = {
  'with an input that is no object': run({ inputs: 3 }),
  'with a time that is none': run({ start_time: 'yesterday' }),
  'with a type that is too long': run({ run_type: 'x'.repeat(201) }),
  'in a session that is not there': run({ session_id: newId() }),
  'with a zero byte in its name': run({ name: 'a\u0000b' }),
  'with a parent that is no id': run({ parent_run_id: 'above' }),
  'that is nested too deeply': (id) => `{"id":"${id}","inputs":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
  'that is not JSON': (id, session_name) => `{"id":"${id}","session_name":"${session_name}","inputs":{"x":NaN}}`,
};
const GOOD_FEEDBACK: Make = () => json({ key: 'correct', score: 1, run_id: newId() });
const BAD_FEEDBACK: Readonly<Record<string, Make>> = {
  'without a key': () => json({ score: 1, run_id: newId() }),
  'about nothing': () => json({ key: 'k' }),
  'in a session that is not there': () => json({ key: 'k', run_id: newId(), session_id: newId() }),
  'in a comparison that is not there': () => json({ key: 'k', run_id: newId(), comparative_experiment_id: newId() }),
  'that is too large': () => json({ key: 'k', run_id: newId(), comment: 'x'.repeat(1_000_001) }),
  'that is not JSON': () => '{',
};

const kinds = fc.oneof(
  fc.constantFrom(...Object.values(GOOD)).map((make) => ({ kind: 'run' as const, isGood: true, make })),
  fc.constantFrom(...Object.values(BAD)).map((make) => ({ kind: 'run' as const, isGood: false, make })),
);
const scores = fc.oneof(
  fc.constant({ kind: 'feedback' as const, isGood: true, make: GOOD_FEEDBACK }),
  fc.constantFrom(...Object.values(BAD_FEEDBACK)).map((make) => ({ kind: 'feedback' as const, isGood: false, make })),
);

async function multipart(parts: readonly (readonly [string, string])[]): Promise<Answer> {
  const form = new FormData();
  for (const [part, text] of parts) form.append(part, text);
  return reading.post('/runs/multipart', form);
}

async function check(items: readonly Item[], answer: Answer): Promise<void> {
  const bad = items.filter(({ isGood }) => !isGood).map(({ id }) => id);
  const good = items.filter(({ isGood }) => isGood);
  if (good.length > 0 || bad.length === 0) expect(answer.status).toBe(202);
  else expect([400, 404, 413, 422]).toContain(answer.status);
  const refused = (answer.json.refused ?? []) as { id: string; loc: unknown[]; msg: string }[];
  expect(refused.map(({ id }) => id).sort()).toEqual(bad.sort());
  for (const { loc, msg } of refused) expect([loc[0], msg.length > 0]).toEqual(['body', true]);
  await reading.followers.passed(await reading.store.head(), undefined, 60_000);
  for (const { kind, id, isGood } of items) {
    if (kind === 'run') expect((await reading.get(`/runs/${id}`)).status).toBe(isGood ? 200 : 404);
    else {
      const { rowCount } = await reading.pool.query('select 1 from awaited_feedback where id = $1', [id]);
      expect(rowCount).toBe(isGood ? 1 : 0);
    }
  }
}

it('Of a batch in JSON exactly the good runs are stored, and each bad one is named once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { maxLength: 12 }), fc.boolean(), async (sent, patches) => {
      const session = name();
      const items = sent.map(({ make, ...item }): Item => {
        const id = newId();
        return { ...item, id, text: make(id, session) };
      });
      const list = `[${items.map(({ text }) => text).join(' , ')}]`;
      const body = `{"${patches ? 'patch' : 'post'}":${list}}`;
      await check(items, await reading.post('/runs/batch', body));
      // A client that did not see the answer sends it again.
      await check(items, await reading.post('/runs/batch', body));
      const stored = await reading.post('/runs/query', { id: items.map(({ id }) => id) });
      if (items.length > 0) expect(stored.json.runs).toHaveLength(items.filter(({ isGood }) => isGood).length);
    }),
    { numRuns: 15 },
  );
});

it('Of a batch in parts exactly the good runs and scores are stored, and each bad one is named once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(kinds, scores), { minLength: 1, maxLength: 12 }), async (sent) => {
      const session = name();
      const items = sent.map(({ make, ...item }): Item => {
        const id = newId();
        return { ...item, id, text: make(id, session) };
      });
      const parts = items.map(({ kind, id, text }) => [`${kind === 'run' ? 'post' : kind}.${id}`, text] as const);
      await check(items, await multipart(parts));
      await check(items, await multipart(parts));
    }),
    { numRuns: 15 },
  );
});

const HUGE = 25 * 1024 * 1024;
/** A body with it is cut or not, as other runs are in it. */
const LARGE = 21 * 1024 * 1024;
/** Kinds of runs, and what becomes of each: all of it is stored, it is stored without a member, or it is refused. */
const SIZES = {
  stored: run({ outputs: { text: 'é"\\{}[],:'.repeat(1000) } }),
  cut: (id: string, session_name: string) =>
    `{"outputs": {"text": "${'é[{\\"'.repeat(LARGE / 6)}"} , ${run({})(id, session_name).slice(1)}`,
  refused: run({ error: 'x'.repeat(HUGE) }),
  'refused as a whole': run(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`m${n}`, 'x'.repeat(900_000)]))),
};

const stored = (count: number) => Array.from({ length: count }, () => 'stored' as const);

it('Of a batch in JSON with runs that are too large all others are stored, in each encoding', async () => {
  const isCutOrRefused = (kind: string) => kind !== 'stored';
  await fc.assert(
    fc.asyncProperty(
      // A request has no room for two of the large ones.
      fc
        .tuple(fc.constantFrom('cut', 'refused', 'refused as a whole'), fc.nat(2), fc.nat(2))
        .map(([large, before, after]) => [...stored(before), large, ...stored(after)] as const),
      fc.constantFrom('post', 'patch'),
      fc.constantFrom(undefined, 'gzip', 'zstd'),
      async (kinds, list, encoding) => {
        const session = name();
        const items = kinds.map((kind) => ({ kind, id: newId() }));
        const texts = items.map(({ kind, id }) => SIZES[kind](id, session));
        const json = Buffer.from(`{"${list}": [${texts.join(', ')}]}`);
        const body = encoding ? { gzip: gzipSync, zstd }[encoding](json) : json;
        const headers = { 'content-type': 'application/json', ...(encoding && { 'content-encoding': encoding }) };
        const answer = await reading.send('POST', '/runs/batch', body, 'a', headers);
        const kept = items.filter(({ kind }) => kind === 'stored' || kind === 'cut');
        expect(answer.status).toBe(kept.length > 0 ? 202 : 413);
        const named = items.flatMap(({ kind, id }, at) => {
          const member = kind === 'cut' ? ['outputs'] : [];
          return isCutOrRefused(kind) ? [{ id, loc: ['body', list, at, ...member], msg: expect.any(String) }] : [];
        });
        expect(answer.json.refused ?? []).toEqual(named);
        await reading.followers.passed(await reading.store.head(), undefined, 60_000);
        for (const { kind, id } of items) {
          const { status, json: stored } = await reading.get(`/runs/${id}`);
          expect([kind, status]).toEqual([kind, kind.startsWith('refused') ? 404 : 200]);
          if (status === 200) expect(stored.left_out).toEqual(kind === 'cut' ? ['outputs'] : undefined);
        }
      },
    ),
    { numRuns: 4 },
  );
});

describe('A run that is too large', () => {
  const good = () => ({ id: newId(), name: 'good', session_name: name(), outputs: { a: 1 } });
  /** Parts of a run as the SDKs send them. */
  const partsOf = ({ id, outputs, ...run }: { id: string; outputs?: unknown }, more: Record<string, string> = {}) => [
    [`post.${id}`, json({ id, ...run })] as const,
    ...(outputs === undefined ? [] : [[`post.${id}.outputs`, json(outputs as object)] as const]),
    ...Object.entries(more).map(([part, text]) => [part, text] as const),
  ];
  const stored = async (id: string) => (await reading.get(`/runs/${id}`)).json;
  const huge = 30 * 1024 * 1024;

  it.each([
    ['its outputs', 'outputs', 'part'],
    ['an attachment', 'attachment', 'attachment'],
    ['its error', 'error', 'run'],
  ])('leaves the others of its request, and as much of itself as it can, when %s is', async (_, part, kind) => {
    const runs = [good(), good(), good()];
    const { id, session_name } = runs[1]!;
    const place = part === 'attachment' ? `attachment.${id}.a.bin` : `post.${id}.${part}`;
    const parts = runs.flatMap((run) => {
      const own = run.id === id && part === 'outputs' ? { ...run, outputs: undefined } : run;
      return partsOf(own, run.id === id ? { [place]: json({ text: 'x'.repeat(huge) }) } : {});
    });
    const { status, json: answer } = await multipart(parts);
    expect({ status, ...answer }).toEqual({
      status: 202,
      refused: [{ id, loc: ['body', kind === 'run' ? `post.${id}` : place], msg: expect.any(String) }],
    });
    expect(answer.refused[0].msg).toMatch(/left out.*has 31457\d+ bytes, and at most \d+ are stored/);
    expect((await stored(runs[0]!.id)).outputs).toEqual({ a: 1 });
    expect((await stored(runs[2]!.id)).outputs).toEqual({ a: 1 });
    const { outputs = 'none' } = await stored(id);
    expect(outputs).toEqual({ outputs: null, attachment: { a: 1 }, error: 'none' }[part]);
    const listed = (await reading.send('GET', '/v1/refused')).json.resources;
    expect(listed).toContainEqual(expect.objectContaining({ session_name, kind, count: 1, item_ids: [id] }));
  });

  it('is stored without the member also when it came in JSON, but not when it came alone', async () => {
    const large = { ...good(), outputs: { text: 'x'.repeat(HUGE) } };
    const alone = { ...large, id: newId() };
    const { status, json: answer } = await reading.post('/runs/batch', { post: [good(), large] });
    expect({ status, ...answer }).toEqual({
      status: 202,
      refused: [{ id: large.id, loc: ['body', 'post', 1, 'outputs'], msg: expect.stringContaining('`outputs` was') }],
    });
    expect(await stored(large.id)).toMatchObject({ name: 'good', outputs: null, left_out: ['outputs'] });
    const selected = { id: [large.id], select: ['id'] };
    expect((await reading.post('/runs/query', selected)).json.runs).toMatchObject([{ left_out: ['outputs'] }]);
    expect((await reading.post('/runs', alone)).status).toBe(413);
    expect((await reading.get(`/runs/${alone.id}`)).status).toBe(404);
    const only = await reading.post('/runs/batch', { patch: [{ id: large.id, outputs: large.outputs }] });
    expect(only).toMatchObject({ status: 413, json: { refused: [{ id: large.id }] } });
    // What comes later is there after all.
    const later = await reading.post('/runs/batch', { patch: [{ id: large.id, outputs: { a: 2 } }] });
    expect(later.status).toBe(202);
    await reading.followers.passed(await reading.store.head(), undefined, 60_000);
    const { outputs, left_out: left } = await stored(large.id);
    expect({ outputs, left }).toEqual({ outputs: { a: 2 }, left: undefined });
  });

  it('is refused by its id also when it is alone in a body of any size', async () => {
    const huge = { ...good(), outputs: { text: 'x'.repeat(HUGE) } };
    const { status, json: answer } = await reading.post('/runs', huge);
    expect([status, answer.detail]).toEqual([
      413,
      expect.stringMatching(/`outputs` was left out: it has 26214\d+ bytes/),
    ]);
    const listed = (await reading.send('GET', '/v1/refused')).json.resources;
    const of = { session_name: huge.session_name, kind: 'run', count: 1, item_ids: [huge.id] };
    expect(listed).toContainEqual(expect.objectContaining(of));
    const first = good();
    expect((await reading.post('/runs', first)).status).toBe(202);
    expect((await reading.send('PATCH', `/runs/${first.id}`, { outputs: huge.outputs })).status).toBe(413);
  });

  it('is no reason to take a body that is too large outside of its runs', async () => {
    const body = (text: string) => reading.post('/runs/batch', text);
    const long = `"${'x'.repeat(HUGE)}"`;
    expect((await body(`{"post": [${json(good())}], "more": ${long}}`)).status).toBe(413);
    expect((await body(`{"post": [${long}]}`)).json.refused).toEqual([
      { id: null, loc: ['body', 'post', 0], msg: expect.stringContaining('The run was left out') },
    ]);
    expect((await body(`{"post": [{"id": ${long}`)).status).toBe(422);
  });

  it('takes no room of others: parts beyond all that a request may have are named, and the rest is stored', async () => {
    const first = good();
    const last = { ...good(), id: newId() };
    const attached = Array.from(
      { length: 5 },
      (_, n) => [`attachment.${first.id}.${n}`, 'x'.repeat(15 << 20)] as const,
    );
    const { status, json: answer } = await multipart([...partsOf(first), ...attached, ...partsOf(last)]);
    expect(status).toBe(202);
    expect(answer.refused.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(attached.slice(3).map(([part]) => part));
    expect(answer.refused[0].msg).toContain('had taken all room');
    expect(Object.keys((await stored(first.id)).s3_urls)).toHaveLength(3);
    expect((await stored(last.id)).outputs).toEqual({ a: 1 });
  });
});

it('Bytes that a compressed body stands for are counted beyond what a request may have', async () => {
  const head = '--b\r\ncontent-disposition: form-data; name="attachment.x.y"\r\n\r\n';
  const zeros = (mib: number) =>
    gzipSync(Buffer.concat([Buffer.from(head), Buffer.alloc(mib << 20), Buffer.from('\r\n--b--')]));
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-encoding': 'gzip' };
  const send = (mib: number) => reading.send('POST', '/runs/multipart', zeros(mib), 'a', headers);
  expect(await send(100)).toMatchObject({ status: 413, json: { refused: [{ id: null }] } });
  expect(await send(200)).toMatchObject({ status: 413, json: { detail: expect.stringContaining('compressed byte') } });
});

describe('What was refused', () => {
  const list = async (query = '', tenant?: 'a' | 'b') =>
    (await reading.send('GET', `/v1/refused${query}`, undefined, tenant)).json.resources;

  it('is listed by project and reason, and goes with the project', async () => {
    const session_name = name();
    const bad = () => ({ id: newId(), name: 'bad', session_name, inputs: 3 });
    const post = [{ id: newId(), name: 'good', session_name }, bad(), bad()];
    expect((await reading.post('/runs/batch', { post })).json.refused).toHaveLength(2);
    const last = bad();
    expect((await reading.post('/runs', last)).status).toBe(422);
    const { id } = (await reading.get(`/sessions?name=${session_name}`)).json[0];
    const found = await list(`?session_id=${id}`);
    expect(found).toEqual([
      {
        ...{ session_id: id, session_name, kind: 'run', place: 'inputs', count: 3 },
        reason: 'Input should be a valid dictionary',
        item_ids: [last.id, post[1]!.id, post[2]!.id],
        first_at: expect.any(String),
        last_at: expect.any(String),
      },
    ]);
    expect(await list(`?session_id=${id}`, 'b')).toEqual([]);
    await reading.send('DELETE', `/sessions/${id}`);
    await reading.followers.passed(await reading.store.head(), undefined, 60_000);
    expect((await list()).filter((row: { session_name: string }) => row.session_name === session_name)).toEqual([]);
  });

  it('is bounded for a project and a workspace, whatever is sent', async () => {
    const session_name = name();
    const rows = async () =>
      (await reading.pool.query('select 1 from refused_items where session_name = $1', [session_name])).rowCount;
    // Each of them is another reason.
    const bad = (n: number) => ({
      id: newId(),
      session_name,
      name: 'x',
      parent_run_id: String.fromCharCode(0x4e00 + n),
    });
    const post = Array.from({ length: 100 }, (_, n) => bad(n));
    expect((await reading.post('/runs/batch', { post })).json.refused).toHaveLength(100);
    expect(await rows()).toBe(21);
    for (let n = 0; n < 100; n += 10) {
      const few = { post: Array.from({ length: 10 }, (_, at) => bad(n + at)) };
      expect((await reading.post('/runs/batch', few)).status).toBe(422);
    }
    expect(await rows()).toBe(50);
    await reading.pool.query(
      `insert into refused_items select $1, gen_random_uuid(), null, 's' || n, 'run', '', 'r', 1, '{}', now(), now()
       from generate_series(1, 1100) n`,
      [reading.tenants.a],
    );
    await reading.post('/runs', { id: newId(), session_name, inputs: 3 });
    const { rows: counted } = await reading.pool.query(
      'select count(*)::int as count from refused_items where tenant_id = $1',
      [reading.tenants.a],
    );
    expect(counted[0].count).toBeLessThanOrEqual(1000);
  });
});
