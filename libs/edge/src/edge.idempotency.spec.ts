import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Module, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import {
  Answers,
  Body,
  CommandContext,
  Context,
  ForEachCaller,
  Idempotency,
  Idempotent,
  Query,
  Scope,
} from '@fairlead/api';
import { httpMigrations } from '.';
import { BadRequest, bool, dict, type Infer, int, object, optional } from '@fairlead/schema';
import { type SampleServer, startSample } from './testing/sample-server';

const digests = {
  digest: (subject: string, text: string) => Promise.resolve(createHmac('sha256', subject).update(text).digest('hex')),
};

/** The work behind the sample route: counts its runs, and waits or fails when told to. */
const work = { runs: 0, gate: Promise.resolve(), fail: false, fault: false, ids: [] as unknown[] };

const order = object({ a: optional(dict()) });
const tried = object({ dry_run: optional(bool(), false) });
const done = object('Done', { run: int() });

/** Tells each caller what its key may do. */
class Signed extends ForEachCaller<object> {
  show(kept: object, { actor }: CommandContext) {
    return { ...kept, scopes: [...actor.scopes] };
  }
}

@Controller()
class OrdersController {
  @Post('v2/orders')
  @Scope('write')
  @Idempotent()
  @Answers({ 201: done })
  async create(@Context() context: CommandContext, @Res({ passthrough: true }) reply: FastifyReply) {
    const run = ++work.runs;
    work.ids.push(context.command?.idFor('order'));
    await work.gate;
    if (work.fail) throw new BadRequest('The order is refused.');
    if (work.fault) throw new Error('The order may have been stored.');
    void reply.header('etag', `"${run}"`);
    return { run };
  }

  @Put('v2/orders')
  @Scope('write')
  @Idempotent()
  @Answers({ 200: done })
  replace() {
    return { run: ++work.runs };
  }

  @Post('v2/signed')
  @Scope('write')
  @Idempotent(Signed)
  @Answers({ 201: done })
  signed(@Body(order) _: Infer<typeof order>, @Query(tried) query: Infer<typeof tried>) {
    return { run: query.dry_run ? 0 : ++work.runs };
  }
}

describe('A write with an Idempotency-Key', () => {
  let database: TestDatabase;
  let server: SampleServer;
  let key = 0;

  beforeAll(async () => {
    database = await testDatabase(httpMigrations);
    @Module({
      controllers: [OrdersController],
      providers: [{ provide: Idempotency, useFactory: () => new Idempotency(database.pool, digests, 5000) }],
    })
    class Orders {}
    server = await startSample({}, Orders);
  });
  afterAll(async () => {
    await server.app.close();
    await database.drop();
  });
  beforeEach(() => {
    Object.assign(work, { runs: 0, gate: Promise.resolve(), fail: false, fault: false, ids: [] });
    key++;
  });

  const send = async (
    body: unknown,
    headers: Record<string, string> = { 'idempotency-key': `key-${key}` },
    method = 'POST',
    path = 'v2/orders',
  ) => {
    const answer = await fetch(`${server.url}/${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-api-key': 'writer', ...headers },
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  const started = async (runs: number) => {
    while (work.runs < runs) await wait(2);
  };
  const gate = () => {
    let open = () => undefined as void;
    work.gate = new Promise((resolve) => (open = resolve));
    return open;
  };

  it('runs once and repeats its first answer, with status and entity tag', async () => {
    const first = await send({ a: 1 });
    const second = await send({ a: 1 });
    expect([first.status, first.body, first.headers.get('idempotent-replayed')]).toEqual([201, { run: 1 }, null]);
    expect([second.status, second.body, second.headers.get('idempotent-replayed')]).toEqual([201, { run: 1 }, 'true']);
    expect(second.headers.get('etag')).toBe('"1"');
  });

  it('runs every time without the header', async () => {
    await send({ a: 1 }, {});
    expect((await send({ a: 1 }, {})).body).toEqual({ run: 2 });
  });

  it('is refused when the key was used for another body or another route', async () => {
    await send({ a: 1 });
    expect(await send({ a: 2 })).toMatchObject({
      status: 422,
      body: { detail: 'This Idempotency-Key was used for a different request.' },
    });
    expect(await send({ a: 1 }, undefined, 'PUT')).toMatchObject({ status: 422 });
  });

  it('is told to come back while the first one runs, and its lease is renewed meanwhile', async () => {
    const open = gate();
    const first = send({ a: 1 });
    await started(1);
    const { rows } = await database.pool.query<{ leased_until: Date }>(
      'select leased_until from idempotency_keys where key = $1',
      [`key-${key}`],
    );
    const second = await send({ a: 1 });
    expect(second).toMatchObject({ status: 409 });
    expect([second.headers.get('retry-after'), second.headers.get('x-should-retry')]).toEqual(['1', 'false']);
    for (let renewed = false; !renewed; await wait(10)) {
      const { rowCount } = await database.pool.query(
        'select from idempotency_keys where key = $1 and leased_until > $2',
        [`key-${key}`, rows[0]?.leased_until],
      );
      renewed = rowCount === 1;
    }
    open();
    expect((await first).status).toBe(201);
    expect(work.runs).toBe(1);
  });

  it('lets exactly one of many at once run', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send({ a: 1 })));
    expect(work.runs).toBe(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });

  it('is taken over from a holder that crashed', async () => {
    await send({ a: 1 });
    await database.pool.query(
      `update idempotency_keys set status = null, answer = null, leased_until = now() - interval '1 second' where key = $1`,
      [`key-${key}`],
    );
    expect(await send({ a: 1 })).toMatchObject({ status: 201, body: { run: 2 } });
    expect(work.ids).toEqual([expect.any(String), work.ids[0]]);
  });

  it('is taken over from a process of an earlier version that crashed', async () => {
    await send({ a: 1 });
    await database.pool.query(
      `update idempotency_keys set status = null, command_id = null, leased_until = now() - interval '1 second' where key = $1`,
      [`key-${key}`],
    );
    expect(await send({ a: 1 })).toMatchObject({ status: 201, body: { run: 2 } });
    expect(work.ids).toEqual([expect.any(String), expect.any(String)]);
    expect((await send({ a: 1 })).headers.get('idempotent-replayed')).toBe('true');
  });

  it('can be repeated at once after a fault, with the same ids and no other body', async () => {
    work.fault = true;
    expect((await send({ a: 1 })).status).toBe(500);
    work.fault = false;
    expect(await send({ a: 2 })).toMatchObject({ status: 422 });
    expect(await send({ a: 1 })).toMatchObject({ status: 201, body: { run: 2 } });
    expect(work.ids).toEqual([expect.any(String), work.ids[0]]);
  });

  it('has other ids than any request without the header, and after a refusal', async () => {
    await send({ a: 1 }, {});
    work.fail = true;
    await send({ a: 1 });
    work.fail = false;
    await send({ a: 2 });
    expect(work.ids[0]).toBeUndefined();
    expect(new Set(work.ids).size).toBe(3);
  });

  it('repeats its first answer for a day', async () => {
    await send({ a: 1 });
    await database.pool.query(
      `update idempotency_keys set created_at = now() - interval '23 hours 55 minutes', leased_until = now() - interval '23 hours' where key = $1`,
      [`key-${key}`],
    );
    expect(await send({ a: 1 })).toMatchObject({ status: 201, body: { run: 1 } });
  });

  it('forgets failures, and answers older than a day', async () => {
    work.fail = true;
    expect((await send({ a: 1 })).status).toBe(400);
    work.fail = false;
    expect((await send({ a: 1 })).body).toEqual({ run: 2 });
    await database.pool.query(
      `update idempotency_keys set created_at = now() - interval '25 hours', leased_until = now() - interval '24 hours' where key = $1`,
      [`key-${key}`],
    );
    expect((await send({ b: 1 })).body).toEqual({ run: 3 });
    expect(new Set(work.ids).size).toBe(3);
  });

  it('keeps the answer of the handler, and not what is made of it for the caller', async () => {
    const first = await send({}, undefined, 'POST', 'v2/signed');
    const other = { 'idempotency-key': `key-${key}`, 'x-api-key': 'owner' };
    const second = await send({}, other, 'POST', 'v2/signed');
    expect([first.body, second.body]).toEqual([
      { run: 1, scopes: ['write'] },
      { run: 1, scopes: ['admin'] },
    ]);
    const { rows } = await database.pool.query('select answer from idempotency_keys where key = $1', [`key-${key}`]);
    expect(rows).toEqual([{ answer: '{"run":1}' }]);
  });

  it.each([
    ['that does not fit its schema', { a: 1 }, '', 422],
    ['that only tries', {}, '?dry_run=true', 201],
  ])('claims no key for a request %s', async (_, body, search, status) => {
    expect(await send(body, undefined, 'POST', `v2/signed${search}`)).toMatchObject({ status });
    expect(await send({}, undefined, 'POST', 'v2/signed')).toMatchObject({ status: 201, body: { run: 1 } });
  });

  it.each(['x'.repeat(256), ''])('refuses a key that is too long or empty', async (text) => {
    expect(await send({}, { 'idempotency-key': text })).toMatchObject({ status: 400 });
  });
});
