import { Writable } from 'node:stream';
import { Client } from 'pg';
import { v4 as newId } from 'uuid';
import { type Answer, type Reading, startReading } from '@fairlead/experiments/testing';

/** Errors of PostgreSQL and of its client for which a request may be sent again, as they are thrown. */
const CODES = [
  '57014 55P03 40P01 40001 57P01 57P02 57P03 08006 25006 25P02 25P03 26000 42P10',
  '53100 53200 53300 55006 58030 XX000 ECONNRESET ENOMEM Z_MEM_ERROR',
].flatMap((codes) => codes.split(' '));
const FAULTS = CODES.map((code) => [code, () => Object.assign(new Error('It failed.'), { code })] as const);
const MESSAGES = [
  ...['Connection terminated unexpectedly', 'timeout exceeded when trying to connect', 'Query read timeout'],
].map((message) => [message, () => new Error(message)] as const);
const CHANGED = 'cached plan must not change result type';
const ALL = [
  ...FAULTS,
  ...MESSAGES,
  [CHANGED, () => Object.assign(new Error(CHANGED), { code: '0A000' })] as const,
] as const;

let reading: Reading;
/** Statements since the last request, by their texts, and the one that is to fail once. */
let seen: Set<string>;
let failing: { readonly text: string; readonly error: () => Error } | undefined;

beforeAll(async () => {
  reading = await startReading();
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the connection below
  const query = Client.prototype.query as (this: Client, ...given: unknown[]) => unknown;
  jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...given: unknown[]) {
    const [asked] = given;
    const text = typeof asked === 'string' ? asked : (asked as { text?: string } | undefined)?.text;
    // A COPY is a stream, which fails otherwise.
    if (text === undefined || asked instanceof Writable) return query.apply(this, given) as never;
    seen.add(text);
    if (failing?.text !== text) return query.apply(this, given) as never;
    const error = failing.error();
    failing = undefined;
    const answer = given.at(-1);
    if (typeof answer !== 'function') return Promise.reject(error) as never;
    setImmediate(() => (answer as (error: Error) => void)(error));
    return undefined;
  });
});
beforeEach(() => {
  seen = new Set();
  failing = undefined;
});
afterAll(async () => {
  jest.restoreAllMocks();
  await reading.stop();
});

/** A request that makes a session, with a run of 1 MB, or with an attachment and a feedback of the run as well. */
function request(kind: 'run' | 'multipart') {
  const [id, feedback, session_name] = [newId(), newId(), `session ${newId()}`];
  const run = { id, name: 'one', session_name, inputs: { text: 'é'.repeat(kind === 'run' ? 500_000 : 10) } };
  const send = (): Promise<Answer> => {
    if (kind === 'run') return reading.post('/runs', run);
    const form = new FormData();
    form.append(`post.${id}`, JSON.stringify(run));
    form.append(`feedback.${feedback}`, JSON.stringify({ trace_id: id, key: 'correct', score: 1 }));
    form.append(`attachment.${id}.notes`, new Blob(['some notes'], { type: 'text/plain' }));
    return reading.post('/runs/multipart', form);
  };
  return { id, session_name, send };
}

/** Repeats a request until it is answered, and sees that everything is stored once. */
async function storedOnce(kind: 'run' | 'multipart', { id, session_name, send }: ReturnType<typeof request>) {
  let answer = await send();
  for (let n = 0; n < 20 && answer.status === 503; n++) answer = await send();
  expect(answer).toMatchObject({ status: 202, text: '{}' });
  const [session] = (await reading.get(`/sessions?name=${encodeURIComponent(session_name)}`)).json;
  expect(session).toMatchObject({ run_count: 1 });
  expect((await reading.get(`/runs/${id}`)).json).toMatchObject({ id, session_id: session.id });
  const feedback = (await reading.get(`/feedback?run=${id}`)).json;
  expect(feedback).toHaveLength(kind === 'run' ? 0 : 1);
}

/** Sends a request while a statement fails once; returns its status. */
async function failed(kind: 'run' | 'multipart', text: string, error: () => Error): Promise<number> {
  const own = request(kind);
  failing = { text, error };
  const { status, headers, text: body } = await own.send();
  failing = undefined;
  const answer = `${status} ${body} where ${text} ended with ${JSON.stringify(error())}`;
  expect(answer).toMatch(/^(?:202|503|504) /);
  if (status >= 500) expect(headers['retry-after']).toMatch(/^\d+$/);
  await storedOnce(kind, own);
  return status;
}

async function statementsOf(kind: 'run' | 'multipart'): Promise<string[]> {
  await request(kind).send();
  seen = new Set();
  expect((await request(kind).send()).status).toBe(202);
  return [...seen];
}

describe.each(['run', 'multipart'] as const)('A database that fails in the middle of a request (%s)', (kind) => {
  it('has it sent again, whichever statement fails', async () => {
    const statements = await statementsOf(kind);
    expect(statements.length).toBeGreaterThan(5);
    const statuses: number[] = [];
    for (const [nth, text] of statements.entries()) {
      const [, error] = ALL[nth % ALL.length]!;
      statuses.push(await failed(kind, text, error));
    }
    expect(statuses.filter((status) => status >= 500).length).toBeGreaterThan(3);
  });
});

it.each(ALL)('A database that fails with %s has the request sent again', async (_, error) => {
  const text = [...(await statementsOf('run'))].find((own) => own.includes('insert into run_batches'))!;
  expect(await failed('run', text, error)).toBeGreaterThanOrEqual(503);
});
