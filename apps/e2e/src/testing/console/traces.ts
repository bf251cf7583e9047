import type { Installation } from '@fairlead/service/testing';

/** Runs of one request. */
const BATCH = 500;
/** Start of the first trace, in milliseconds since 1970. */
export const EPOCH = Date.UTC(2026, 0, 2);

interface SentRun {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_run_id?: string;
  readonly start_time: string;
  readonly end_time?: string;
  readonly [member: string]: unknown;
}

type Place = Pick<SentRun, 'id' | 'trace_id' | 'start_time'> & { parent_run_id?: string; end_time?: string };

/** Sends runs into a project, and resolves when they can be read. */
export async function sendRuns(installation: Installation, session_name: string, runs: readonly SentRun[]) {
  for (let at = 0; at < runs.length; at += BATCH) {
    const post = runs.slice(at, at + BATCH).map((run) => ({ ...run, session_name }));
    await installation.ask('POST', '/api/v1/runs/batch', { post });
  }
  const [project] = await installation.ask('GET', `/api/v1/sessions?name=${encodeURIComponent(session_name)}`);
  return (project as { id: string }).id;
}

const at = (ms: number) => new Date(EPOCH + ms).toISOString();

/** Place of a run that lasts from one time to another one, in milliseconds after the first trace. */
export function placed(trace: Pick<Place, 'trace_id'> | undefined, from: number, to?: number, above?: string): Place {
  const id = crypto.randomUUID();
  return {
    ...{ id, trace_id: trace?.trace_id ?? id, start_time: at(from) },
    ...(to !== undefined && { end_time: at(to) }),
    ...(above !== undefined && { parent_run_id: above }),
  };
}

/** A trace of an agent: it looks something up, calls a tool, which fails in each tenth trace, and a model answers. */
export function agentTrace(n: number): SentRun[] {
  const from = n * 60_000;
  const root = placed(undefined, from, from + 2000 + (n % 7) * 100);
  const step = (start: number, end: number, above = root.id) => placed(root, from + start, from + end, above);
  const question = `Where is parcel ${n}?`;
  const failed = n % 10 === 0;
  const thread_id = `thread ${n % 5}`;
  const messages = [
    { role: 'system', content: 'Answer in one sentence.' },
    { role: 'user', content: question },
  ];
  const call = { id: 'call-1', type: 'function', function: { name: 'track', arguments: `{"parcel":${n}}` } };
  const model = step(900, 1900);
  const tool = step(300, 800);
  return [
    {
      ...{ ...root, name: n % 3 === 0 ? 'answer' : 'answer quickly', run_type: 'chain', tags: [`shift ${n % 2}`] },
      extra: { metadata: { thread_id, model: `m-${n % 2}` } },
      inputs: { messages: messages.slice(1) },
      ...(failed
        ? { error: `ToolError: parcel ${n} is unknown\n  at track (tools.ts:12)\n  at answer (agent.ts:40)` }
        : {
            outputs: { messages: [...messages.slice(1), { role: 'assistant', content: `Parcel ${n} is on its way.` }] },
          }),
    },
    {
      ...{ ...step(20, 280), name: 'look up', run_type: 'retriever', inputs: { query: question } },
      outputs: { documents: [{ page_content: 'Parcels are tracked by their number.' }] },
    },
    {
      ...{ ...tool, name: 'track', run_type: 'tool', inputs: { parcel: n } },
      ...(failed ? { error: `ToolError: parcel ${n} is unknown` } : { outputs: { place: 'Lyon', attempts: 1 } }),
    },
    { ...step(320, 700, tool.id), name: 'GET /parcels', run_type: 'tool', inputs: {}, outputs: { status: 200 } },
    {
      ...{ ...model, name: 'chat', run_type: 'llm', inputs: { messages } },
      outputs: {
        choices: [{ message: { role: 'assistant', content: `Parcel ${n} is on its way.`, tool_calls: [call] } }],
        usage_metadata: { input_tokens: 100 + n, output_tokens: 20, total_tokens: 120 + n, total_cost: 0.0012 },
      },
      events: [{ name: 'new_token', time: at(from + 1150), kwargs: { token: 'Parcel' } }],
    },
  ];
}

/** A trace of so many runs: a root, a hundred steps, and theirs below them, some of which fail. */
export function largeTrace(count: number): SentRun[] {
  const from = 100 * 60_000;
  const root = placed(undefined, from, from + count * 10);
  const runs: SentRun[] = [{ ...root, name: 'large root', run_type: 'chain', inputs: { large: true } }];
  const steps: string[] = [];
  for (let n = 1; n < count; n++) {
    const above = n <= 100 ? root.id : steps[n % 100]!;
    const place = placed(root, from + n * 10, from + n * 10 + 500, above);
    if (n <= 100) steps.push(place.id);
    runs.push({
      ...{ ...place, name: `step ${n}`, run_type: n % 2 === 0 ? 'tool' : 'llm', inputs: { n } },
      ...(n % 1000 === 999 && { error: `step ${n} broke` }),
    });
  }
  return runs;
}

/** Text that would be markup or turn the direction, if anything took it as such. */
const EVIL = `<img src=x onerror="document.title='ran'"></script><b>bold</b>\u202egnirts`;

/** The thread of that trace. */
export const THREAD = `a/b ${EVIL}`;

/** A trace of what no program should send: long names, parents in a circle or missing, runs without an end, markup. */
export function hostileTrace(): SentRun[] {
  const from = 200 * 60_000;
  const root = placed(undefined, from);
  const [one, other, own] = [0, 1, 2].map((n) => placed(root, from + 10 + n, from + 500));
  const long = `${EVIL}${'x'.repeat(10_000 - EVIL.length)}`;
  return [
    {
      ...{ ...root, name: long, run_type: EVIL, tags: [EVIL], error: undefined },
      ...{ inputs: { [EVIL]: EVIL }, extra: { metadata: { thread_id: THREAD } } },
    },
    { ...one!, parent_run_id: other!.id, name: 'first of a circle', outputs: { html: EVIL } },
    { ...other!, parent_run_id: one!.id, name: 'second of a circle' },
    { ...own!, parent_run_id: own!.id, name: 'its own parent', outputs: `${EVIL} alone` },
    {
      ...placed(root, from + 20, from + 30, crypto.randomUUID()),
      name: 'of a missing parent',
      error: `${EVIL}\nsecond line`,
    },
    { ...placed(root, from + 40, from + 35, root.id), name: 'ends before it starts', inputs: { messages: 'none' } },
    { ...placed(root, from + 50, undefined, root.id), name: '', events: [EVIL, { name: 'new_token', time: 'never' }] },
  ];
}
