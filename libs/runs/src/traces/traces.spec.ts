import { v4 as newId } from 'uuid';
import { startReading } from '@fairlead/evaluation/testing';
import { type Reading, rows } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const newProject = () => reading.insert('sessions', rows.session(reading.tenants.a));
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
const add = (project: string, second: number, row: object = {}) =>
  reading.insert(
    'runs',
    rows.run(reading.tenants.a, project, { start_time: at(second), end_time: at(second + 1), ...row }),
  );
async function list(project: string, query = '') {
  const { status, json } = await reading.get(`/v1/projects/${project}/traces${query}`);
  expect([status, json]).toEqual([200, expect.anything()]);
  return json as { traces: { name: string }[]; first_cursor: string; next_cursor: string | null; searched_to: string };
}
const names = async (project: string, query: string) => (await list(project, query)).traces.map(({ name }) => name);

describe('The root runs of a project', () => {
  it('are listed the newest first, without bodies, with the beginnings of these', async () => {
    const project = await newProject();
    const long = 'x'.repeat(1000);
    const first = await add(project, 1, {
      name: 'first',
      inputs: `{"q":"${long}"}`,
      outputs: '{"a":1}',
      tags: '["t"]',
    });
    const failed = await add(project, 2, { name: 'failed', status: 'error', error: `"it \\"broke\\" ${long}"` });
    await add(project, 3, { name: 'step', parent_run_id: first, trace_id: first, total_tokens: 5, total_cost: '0.25' });
    await reading.insert('feedback', rows.feedback(reading.tenants.a, project, { run_id: first, key: 'ok', score: 1 }));
    await reading.insert('feedback', rows.feedback(reading.tenants.a, project, { run_id: first, key: 'ok', score: 0 }));
    const { traces, ...places } = await list(project);
    expect(traces).toMatchObject([
      { id: failed, status: 'error', error_preview: expect.stringMatching(/^it \\?"broke\\?" x{200,290}$/), tags: [] },
      {
        ...{
          id: first,
          trace_id: first,
          name: 'first',
          status: 'success',
          latency: 1,
          tags: ['t'],
          feedback: { ok: 0.5 },
        },
        ...{ total_tokens: 5, total_cost: '0.25', outputs_preview: '{"a":1}', error_preview: null, thread_id: null },
        inputs_preview: `{"q":"${long}`.slice(0, 300),
      },
    ]);
    expect(places).toMatchObject({ next_cursor: null, searched_to: expect.stringMatching(/:01\.000000\+00:00$/) });
  });

  it('tell the last turn of a conversation, however long it is before that', async () => {
    const project = await newProject();
    const [long, short] = ['You answer in verse. '.repeat(500), 'Where is \\"it\\"?'];
    const said = `{"messages":[{"role":"system","content":"${long}"},{"role":"user","content":"${short}"}]}`;
    await add(project, 1, { inputs: said, outputs: '{"role":"assistant","content":"Here."}' });
    await add(project, 2, {
      inputs: `{"messages":["${'x'.repeat(300_000)}",{"role":"user","content":"Never read."}]}`,
    });
    await add(project, 3, { inputs: '{"question":"Why?"}', outputs: null });
    const { traces } = await list(project);
    const turns = traces.map(({ inputs_turn = null, outputs_turn = null }: Record<string, unknown>) => [
      inputs_turn,
      outputs_turn,
    ]);
    expect(turns).toEqual([
      [null, null],
      [null, null],
      [
        { role: 'user', text: 'Where is "it"?' },
        { role: 'assistant', text: 'Here.' },
      ],
    ]);
  });

  it('say when their first token came, in either order of members', async () => {
    const project = await newProject();
    const token = { name: 'new_token', time: '2026-01-01T00:00:01.5Z', kwargs: { token: '{' } };
    const { name, time, ...kwargs } = token;
    const start = { name: 'start', time: '2026-01-01T00:00:01Z' };
    await add(project, 1, { events: JSON.stringify([start, token, { ...token, time: 'later' }]) });
    await add(project, 2, { events: JSON.stringify([start, { ...kwargs, time, name }]) });
    await add(project, 3, { events: JSON.stringify([{ ...start, text: '"name":"new_token","time":"2026"' }]) });
    await add(project, 4, { events: JSON.stringify([{ ...token, time: 'soon' }]) });
    const { traces } = await list(project);
    const first = '2026-01-01T00:00:01.500000+00:00';
    expect(traces.map((trace) => (trace as unknown as { first_token_time: string }).first_token_time)).toEqual([
      null,
      null,
      first,
      first,
    ]);
  });

  it('are found by what they are and have', async () => {
    const project = await newProject();
    const metadata = (members: object) => JSON.stringify({ metadata: members });
    const one = await add(project, 1, {
      name: 'one',
      tags: '["a","b"]',
      extra: metadata({ user: 'ada', thread_id: 't "1"' }),
    });
    await add(project, 2, { name: 'two', run_type: 'llm', tags: '["b"]', extra: metadata({ user: 'bob' }) });
    await add(project, 3, { name: 'three', status: 'error', error: '"Größe"', outputs: '{"a":"gr\\u00f6\\u00dfe"}' });
    await add(project, 4, { name: 'four', status: 'pending', end_time: null });
    await reading.insert(
      'feedback',
      rows.feedback(reading.tenants.a, project, { run_id: one, key: 'a=b', score: 0.75 }),
    );
    const found = (query: Record<string, string> | [string, string][]) =>
      names(project, `?${new URLSearchParams(query).toString()}`);
    expect(await found({ status: 'error' })).toEqual(['three']);
    expect(
      await found([
        ['status', 'error'],
        ['status', 'pending'],
      ]),
    ).toEqual(['four', 'three']);
    expect(
      await found([
        ['name', 'one'],
        ['name', 'two'],
      ]),
    ).toEqual(['two', 'one']);
    expect(await found({ run_type: 'llm' })).toEqual(['two']);
    expect(await found({ tag: 'b' })).toEqual(['two', 'one']);
    expect(
      await found([
        ['tag', 'a'],
        ['tag', 'b'],
      ]),
    ).toEqual(['one']);
    expect(await found({ metadata: '{"user":"ada"}' })).toEqual(['one']);
    expect(await found({ thread_id: 't "1"' })).toEqual(['one']);
    expect(await found({ score: 'a=b>0.5' })).toEqual(['one']);
    expect(await found({ score: 'a=b>0.75' })).toEqual([]);
    expect(await found({ text: 'GRÖSSE'.replace('SS', 'ß') })).toEqual(['three']);
    expect(await found({ from: at(2), to: at(4) })).toEqual(['three', 'two']);
    expect(await found({ filter: 'and(neq(status, "error"), gt(latency, 0.5))' })).toEqual(['two', 'one']);
    expect(await found({ filter: 'gt(latency, 0.5)', tag: 'a' })).toEqual(['one']);
    const refused = async (query: string) => (await reading.get(`/v1/projects/${project}/traces?${query}`)).status;
    expect(await refused('filter=nothing()')).toBe(400);
    expect(await refused('metadata=[]')).toBe(400);
    expect(await refused('score=high')).toBe(422);
    expect(await refused('status=odd')).toBe(422);
    expect(await refused('cursor=odd')).toBe(400);
    expect(await refused('colour=red')).toBe(422);
    expect(await refused(Array.from({ length: 21 }, () => 'tag=a').join('&'))).toBe(422);
  });

  it('are found by names of threads of any length', async () => {
    const project = await newProject();
    const name = 'é'.repeat(500);
    const threads = [`${name}1`, `${name}2`, name.slice(0, 10), 'é'.repeat(5000)];
    for (const [second, thread_id] of threads.entries())
      await add(project, second, { name: `${second}`, extra: JSON.stringify({ metadata: { thread_id } }) });
    await add(project, 5, { name: 'escaped', extra: String.raw`{"metadata":{"thread\u005fid":"e"}}` });
    await add(project, 6, { name: 'none', extra: '{"metadata":{"thread_id":null}}' });
    await add(project, 7, { name: 'deep', extra: `{"_id":${'['.repeat(900)}${']'.repeat(900)}}` });
    await reading.pool.query('reindex index runs_by_thread');
    const found = (thread_id: string) => names(project, `?${new URLSearchParams({ thread_id }).toString()}`);
    for (const [second, thread] of threads.slice(0, 3).entries()) expect(await found(thread)).toEqual([`${second}`]);
    expect(await found('e')).toEqual(['escaped']);
    expect(await found(name)).toEqual([]);
  });

  it('are paged without gaps, also where several start at once, and tell what is newer', async () => {
    const project = await newProject();
    for (let n = 0; n < 20; n++)
      await add(project, Math.floor(n / 3), { name: `run ${n}`, tags: n % 2 ? '["odd"]' : null });
    const pages = async (query: string) => {
      const all: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          project,
          `?limit=3${query}${cursor && `&cursor=${cursor}`}`,
        );
        expect(page.traces.length).toBeLessThanOrEqual(3);
        all.push(...page.traces.map(({ name }) => name));
        cursor = page.next_cursor;
      }
      return all;
    };
    const all = await names(project, '?limit=100');
    expect(new Set(all).size).toBe(20);
    expect(await pages('')).toEqual(all);
    expect(await pages('&tag=odd')).toEqual(all.filter((name) => Number(name.slice(4)) % 2 === 1));
    expect(await pages('&tag=none')).toEqual([]);
    const { first_cursor } = await list(project, '?limit=5');
    expect(await names(project, `?newer_than=${first_cursor}`)).toEqual([]);
    await add(project, 100, { name: 'new' });
    await add(project, -100, { name: 'late' });
    expect(await names(project, `?newer_than=${first_cursor}`)).toEqual(['new']);
    expect(await names(project, `?newer_than=${first_cursor}&tag=odd`)).toEqual([]);
  });

  it('end a page of a rare condition after a bounded number of runs, with a cursor that leads on', async () => {
    const project = await newProject();
    await reading.pool.query(
      `insert into runs (id, tenant_id, session_id, name, run_type, start_time, status, row_number)
       select gen_random_uuid(), $1, $2, 'r' || n, 'chain', timestamptz '2026-01-01' + n * interval '1 s', 'pending', 0
       from generate_series(1, 60000) n`,
      [reading.tenants.a, project],
    );
    const first = await list(project, '?name=r1');
    expect(first.traces).toEqual([]);
    expect(first.next_cursor).not.toBeNull();
    const found: string[] = [];
    for (let cursor: string | null = first.next_cursor; cursor !== null;) {
      const page: Awaited<ReturnType<typeof list>> = await list(project, `?name=r1&cursor=${cursor}`);
      found.push(...page.traces.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(found).toEqual(['r1']);
  });

  it('belong to their workspace', async () => {
    const project = await newProject();
    await add(project, 1);
    const path = `/v1/projects/${project}/traces`;
    const other = await reading.get(path, 'b');
    expect([other.status, other.json]).toEqual([404, { detail: `Project ID ${project} not found.` }]);
    expect((await reading.get(`/v1/projects/${newId()}/traces`)).status).toBe(404);
  });
});

describe('A trace', () => {
  it('has all its runs by their start, in pages', async () => {
    const project = await newProject();
    const root = await add(project, 0, { name: 'root' });
    const below = (second: number, row: object = {}) =>
      add(project, second, { trace_id: root, parent_run_id: root, ...row });
    const tool = await below(2, { name: 'tool', prompt_tokens: 1, total_tokens: 3 });
    await below(1, { name: 'model', prompt_tokens: 2, total_tokens: 4, parent_run_id: tool });
    await below(1, { name: 'elsewhere', session_id: await newProject() });
    await add(project, 5, { name: 'alone' });
    const read = (query = '') => reading.get(`/v1/projects/${project}/traces/${root}${query}`);
    const { json } = await read();
    expect(json).toMatchObject({
      trace_id: root,
      runs: [
        { id: root, name: 'root', parent_run_id: null, total_tokens: 3 },
        { name: 'model', trace_id: root, parent_run_id: tool, total_tokens: 4 },
        { id: tool, name: 'tool', parent_run_id: root, prompt_tokens: 1, completion_tokens: null },
      ],
      next_cursor: null,
    });
    expect(json.runs[0]).not.toHaveProperty('inputs_preview');
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { runs: { name: string }[]; next_cursor: string | null } = (
        await read(`?limit=1${cursor && `&cursor=${cursor}`}`)
      ).json;
      seen.push(...page.runs.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(['root', 'model', 'tool']);
    expect((await reading.get(`/v1/projects/${project}/traces/${root}`, 'b')).status).toBe(404);
    expect((await reading.get(`/v1/projects/${await newProject()}/traces/${root}`)).status).toBe(404);
    expect((await read('?limit=5001')).status).toBe(422);
  });
});
