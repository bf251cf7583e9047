import { spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { type EventStoreDBClient, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client';
import { type BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { AppendTooLarge, StreamDeleted, VersionConflict } from '@fairlead/eventing';
import { Unavailable } from '@fairlead/schema';
import { until } from '@fairlead/postgres/testing';
import { EventStoreDbStore } from '.';
import { EventStoreDbDouble } from './testing';
import { EventStoreDbBatches } from './batches';

const ROOT = join(__dirname, '../../..');
const noted = (text: string) => ({ type: 'Noted', data: { text } });
const limits = { attempt: 20_000, total: 60_000 };

/** The call of a client, as far as batches use it. */
class FakeCall extends EventEmitter {
  readonly written: BatchAppendReq[] = [];
  cancelled = 0;

  write(request: BatchAppendReq): void {
    this.written.push(request);
  }

  cancel(): void {
    this.cancelled += 1;
  }

  async batches(over?: () => void): Promise<EventStoreDbBatches> {
    const client = { GRPCStreamCreator: () => () => Promise.resolve(this) };
    return EventStoreDbBatches.open(client as unknown as EventStoreDBClient, over);
  }

  /** Answers the request with this number, from 0, that it was carried out. */
  answer(nth: number): void {
    const success = new BatchAppendResp.Success().setCurrentRevision('0');
    this.emit(
      'data',
      new BatchAppendResp().setCorrelationId(this.written[nth]!.getCorrelationId()).setSuccess(success),
    );
  }
}

/** Appends to streams of their own, and notes each that ended. */
function appending(batches: EventStoreDbBatches, count: number, bytes: number) {
  const ended: unknown[] = [];
  const alive = Array<number>(count).fill(0);
  for (let n = 0; n < count; n++) {
    const event = { id: '00000000-0000-4000-8000-000000000000', type: 'Noted', data: 'x'.repeat(bytes), metadata: '' };
    batches
      .append(`note-${n}`, 0, [event], () => (alive[n]! += 1))
      .then(
        () => ended.push(n),
        (error: unknown) => ended.push(error),
      );
  }
  return { ended, alive };
}

describe('Appends that share a call', () => {
  it.each([
    ['128 appends', 300, 10, 128],
    ['8 MB', 30, 900_000, 8],
    ['one append, however large', 2, 9_000_000, 1],
  ])('are sent up to %s, and the next one when one is answered, in order', async (_, count, bytes, sent) => {
    const call = new FakeCall();
    const { ended } = appending(await call.batches(), count, bytes);
    expect(call.written).toHaveLength(sent);
    for (let n = 0; n < count; n++) {
      call.answer(n);
      expect(call.written).toHaveLength(Math.min(sent + n + 1, count));
    }
    const streams = call.written.map((request) =>
      Buffer.from(request.getOptions()!.getStreamIdentifier()!.getStreamName_asU8()).toString(),
    );
    expect(streams).toEqual(Array.from({ length: count }, (_, n) => `note-${n}`));
    await until(() => ended.length === count);
    expect(ended).toEqual(Array.from({ length: count }, (_, n) => n));
  });

  it.each([
    ['10,000 appends', 10_000 + 128 + 5, 10, 5],
    ['64 MB', 80, 1_000_000, 8],
  ])('wait up to %s; what comes then is refused with 503, and harms none of them', async (_, count, bytes, refused) => {
    const call = new FakeCall();
    const batches = await call.batches();
    const { ended } = appending(batches, count, bytes);
    await until(() => ended.length === refused);
    expect(ended.every((error) => error instanceof Unavailable && error.status === 503)).toBe(true);
    call.answer(0);
    await until(() => ended.length === refused + 1);
    const more = appending(batches, 1, 10);
    call.answer(1);
    await until(() => ended.length === refused + 2);
    expect(more.ended).toEqual([]);
  });

  it('hear that the server answers others while they wait to be sent', async () => {
    const call = new FakeCall();
    const { alive } = appending(await call.batches(), 130, 10);
    expect([alive[0], alive[128], alive[129]]).toEqual([1, 0, 0]);
    call.answer(0);
    expect([alive[128], alive[129]]).toEqual([1, 1]);
  });

  it('end with the call, all with an error that lets them be repeated', async () => {
    for (const [error, kind] of [
      [new Error('broken'), Error],
      // Nobody knows which of them it would be of.
      [new StreamDeletedError(undefined as never), Error],
      [new WrongExpectedVersionError(undefined, { streamName: 'a', current: 1n, expected: 0n }), Error],
    ] as const) {
      const call = new FakeCall();
      const over = jest.fn();
      const batches = await call.batches(over);
      const { ended } = appending(batches, 200, 10);
      call.emit('error', error);
      await until(() => ended.length === 200);
      expect(ended.every((one) => (one as Error).constructor === kind)).toBe(true);
      expect(over).toHaveBeenCalledTimes(1);
      const later = appending(batches, 1, 10);
      await until(() => later.ended.length === 1);
      expect(later.ended[0]).toBeInstanceOf(Error);
    }
  });

  it('end with the call when an answer is not understood, which does not end the process', async () => {
    const call = new FakeCall();
    const { ended } = appending(await call.batches(), 2, 10);
    call.emit('data', new BatchAppendResp().setCorrelationId(call.written[0]!.getCorrelationId()));
    await until(() => ended.length === 2);
    expect(ended.every((error) => error instanceof Error)).toBe(true);
    expect(call.cancelled).toBe(1);
  });

  it('are waited for by whoever closes', async () => {
    const call = new FakeCall();
    const batches = await call.batches();
    const { ended } = appending(batches, 130, 10);
    batches.close();
    for (let n = 0; n < 130; n++) {
      expect(call.cancelled).toBe(0);
      call.answer(n);
    }
    expect(call.cancelled).toBe(1);
    await until(() => ended.length === 130);
    expect(ended).not.toContainEqual(expect.any(Error));
  });
});

describe('Appends to EventStoreDB at the same time (double)', () => {
  let double: EventStoreDbDouble;
  let store: EventStoreDbStore;
  beforeEach(async () => {
    double = await EventStoreDbDouble.start({ maxAppendSize: 10_000 });
    store = new EventStoreDbStore(double.url, { limits });
  });
  afterEach(async () => {
    await store.close();
    await double.stop();
  });

  it('are one call, with a result for each', async () => {
    await store.append('note-0', 0, [noted('before')], {});
    await store.append('note-1', 0, [noted('before')], {});
    double.log.tombstone('note-1');
    const outcomes = await Promise.allSettled([
      store.append('note-0', 0, [noted('too late')], {}),
      store.append('note-1', 1, [noted('to what is gone')], {}),
      store.append('note-2', 0, [noted('x'.repeat(20_000))], {}),
      store.append('note-3', 3, [noted('too early')], {}),
      ...Array.from({ length: 300 }, (_, n) => store.append(`more-${n}`, 0, [noted(`${n}`)], {})),
    ]);
    const refused = outcomes.splice(0, 4).map((outcome) => (outcome as PromiseRejectedResult).reason as unknown);
    expect(refused[0]).toBeInstanceOf(VersionConflict);
    expect(refused[0]).toMatchObject({ stream: 'note-0', expected: 0, actual: 1 });
    expect(refused[1]).toBeInstanceOf(StreamDeleted);
    expect(refused[1]).toMatchObject({ stream: 'note-1' });
    expect(refused[2]).toBeInstanceOf(AppendTooLarge);
    expect(refused[2]).toMatchObject({ stream: 'note-2' });
    expect(refused[3]).toMatchObject({ stream: 'note-3', expected: 3, actual: 0 });
    expect(outcomes.map(({ status }) => status)).toEqual(Array(300).fill('fulfilled'));
    const appended = outcomes.map((outcome) => (outcome as PromiseFulfilledResult<{ position: bigint }>).value);
    for (const [n, { position }] of appended.entries()) {
      expect(await store.read(`more-${n}`)).toMatchObject([{ position, data: { text: `${n}` } }]);
    }
    expect(double.calls.batches).toBe(1);
  });

  it('are repeated when their call breaks, and appended once, also where answers were lost', async () => {
    await store.append('note-0', 0, [noted('before')], {});
    double.stall('append');
    const { append } = double.calls;
    const writing = Array.from({ length: 100 }, (_, n) => store.append(`more-${n}`, 0, [noted(`${n}`)], {}));
    await until(() => double.calls.append > append);
    double.breakBatches();
    double.lostAnswers = 3;
    double.resume('append');
    // Those whose answers are lost wait for them until this call breaks, too.
    await until(() => double.lostAnswers === 0);
    double.breakBatches();
    expect((await Promise.all(writing)).map(({ version }) => version)).toEqual(Array(100).fill(1));
    expect(double.log.events).toHaveLength(101);
    expect(double.calls.batches).toBeGreaterThan(2);
  });
});

/** Replaces the connection again and again while calls are open, and says nothing. */
const REPLACING = `
const { EventStoreDbStore } = require('./libs/eventstoredb/src');
const { EventStoreDbDouble } = require('./libs/eventstoredb/src/testing/esdb-double');
const { EsdbLog } = require('./libs/eventstoredb/src/testing/esdb-log');
const work = async () => {
  const log = new EsdbLog();
  const nodes = [];
  for (let n = 0; n < 3; n++) nodes.push(await EventStoreDbDouble.start({ log }));
  const elect = (leader) => {
    for (const node of nodes) {
      node.members = nodes;
      node.leader = node === leader ? undefined : leader === 'nobody' ? leader : leader.address;
    }
  };
  elect(nodes[0]);
  const hosts = nodes.map(({ address }) => '127.0.0.1:' + address.port).join(',');
  const store = new EventStoreDbStore('esdb://' + hosts + '?tls=false', { limits: { attempt: 400, total: 60000 } });
  const stop = new AbortController();
  const following = (async () => {
    while (!stop.signal.aborted) {
      try { for await (const batch of store.subscribe(0n, stop.signal)) void batch; } catch { await new Promise(setImmediate); }
    }
  })();
  for (let round = 0; round < 24; round++) {
    const leader = nodes[round % 3];
    const calls = Array.from({ length: 40 }, (_, n) => [
      store.append('note-' + round + '-' + n, 0, [{ type: 'Noted', data: {} }], {}),
      store.read('note-' + (round - 1) + '-' + n),
      store.head(),
    ]).flat();
    const how = round % 4;
    if (how === 0) leader.notReady = 20;
    if (how === 1) { leader.dropSubscriptions(); leader.breakBatches(); }
    if (how === 2) for (const kind of ['append', 'read', 'batches']) leader.stall(kind);
    if (how === 3) elect('nobody');
    await new Promise((resolve) => setTimeout(resolve, round));
    elect(nodes[(round + 1) % 3]);
    await Promise.all(calls);
    for (const kind of ['append', 'read', 'batches']) leader.resume(kind);
  }
  stop.abort();
  await following;
  await store.close();
  for (const node of nodes) await node.stop();
  console.log(log.events.length);
};
process.on('unhandledRejection', (reason) => console.error(reason));
void work().then(() => process.exit());
`;

it('says nothing on standard error however often the connection is replaced, and appends everything once', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['-r', join(ROOT, 'tools/test/typescript.cjs'), '-e', REPLACING],
    { cwd: ROOT, encoding: 'utf8' },
  );
  expect([stdout.trim(), stderr]).toEqual([`${24 * 40}`, '']);
});
