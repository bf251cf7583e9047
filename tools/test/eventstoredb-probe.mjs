#!/usr/bin/env node
// What a server that speaks EventStoreDB's protocol does, as facts that can be compared.
// Usage: node tools/test/eventstoredb-probe.mjs URL [RECORDED.json], from the project's root; the server must be new (an
// empty log). With a recording it prints what differs and ends with 1; without, it prints the facts.
// What EventStoreDB 24.6.0 does is in libs/eventstoredb/src/testing/esdb-recorded-24.6.json.
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import {
  EventStoreDBClient,
  jsonEvent,
  START,
  END,
  BACKWARDS,
  ANY,
  NO_STREAM,
  STREAM_EXISTS,
  streamNameFilter,
  eventTypeFilter,
} from '@eventstore/db-client';
const [url, recorded] = process.argv.slice(2);
const client = EventStoreDBClient.connectionString(url);
// Appends as calls of their own, as Fairlead sends them.
const single = EventStoreDBClient.connectionString(url);
Object.assign(single, { supports: () => Promise.resolve(false) });
const MAX = 2n ** 64n - 1n;
const facts = {};
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const x = (data = {}, type = 'X') => jsonEvent({ type, data });
const refusal = (e) => `${e.constructor.name} ${e.type ?? e.code ?? ''}`.trim();
const attempt = async (f) => {
  try {
    return await f();
  } catch (e) {
    return refusal(e);
  }
};
const at = (p) => (p === undefined ? 'none' : p.commit === MAX ? 'max' : p.commit);
const list = async (reading) => {
  const all = [];
  for await (const { event } of reading) all.push(event);
  return all;
};
const ours = (events) => events.filter((e) => e && !e.streamId.startsWith('$'));
/** Messages of a subscription, in order, until it has been quiet for `quiet` milliseconds. */
async function hear(fromPosition, filter, { during = async () => undefined, quiet = 1200, from = client } = {}) {
  const said = [];
  let last = Date.now();
  const note = (what) => {
    said.push(what);
    last = Date.now();
  };
  const s = from.subscribeToAll({
    fromPosition,
    ...(filter ? { filter: filter((_, p) => note({ checkpoint: p })) } : {}),
    requiresLeader: true,
  });
  s.on('confirmation', () => note('confirmed'))
    .on('caughtUp', () => note('caught up'))
    .on('fellBehind', () => note('fell behind'))
    .on('data', ({ event }) => {
      if (event && !event.streamId.startsWith('$')) note({ event });
      else last = Date.now();
    })
    .on('error', (e) => note(refusal(e)));
  const calm = async () => {
    while (Date.now() - last < quiet) await sleep(50);
  };
  await calm();
  await during(note);
  last = Date.now();
  await calm();
  await s.unsubscribe().catch(() => undefined);
  return said;
}
const word = (item) => (typeof item === 'string' ? item : 'event' in item ? 'event' : 'checkpoint');
/** Words in order, repetitions as one with a plus. */
const words = (said) =>
  said
    .map(word)
    .reduce((all, w) => (all.at(-1)?.replace('+', '') === w ? [...all.slice(0, -1), `${w}+`] : [...all, w]), [])
    .join(', ');
const byName =
  (regex, window = 500) =>
  (checkpointReached) =>
    streamNameFilter({ regex, maxSearchWindow: window, checkpointReached });
const byPrefix =
  (prefix, window = 500) =>
  (checkpointReached) =>
    streamNameFilter({ prefixes: [prefix], maxSearchWindow: window, checkpointReached });
const byType =
  (prefix, window = 500) =>
  (checkpointReached) =>
    eventTypeFilter({ prefixes: [prefix], maxSearchWindow: window, checkpointReached });

/** Runs one part of the probe; its failure does not stop the others. */
async function section(name, f) {
  try {
    await f();
  } catch (e) {
    facts[`${name}: stopped by`] = refusal(e);
  }
}

// ---- a log without an event of ours
for (const [name, filter] of [
  ["every stream but the server's own", byName('^[^$]')],
  ['a category', byPrefix('nothing-')],
  ['a type', byType('Nothing')],
]) {
  const said = await hear(START, filter);
  facts[`empty log, subscription by ${name}`] = words(said);
  facts[`empty log, subscription by ${name}: checkpoint`] =
    said
      .filter((s) => s.checkpoint)
      .map((s) => at(s.checkpoint))
      .join(', ')
      .replace(/^\d+$/, 'a position') || 'none';
}
{
  const all = await list(client.readAll({ direction: BACKWARDS, fromPosition: END, requiresLeader: true }));
  facts['empty log, read backwards: events of ours'] = ours(all).length;
  facts['empty log, read backwards: events of the server itself'] = all.length > ours(all).length ? 'some' : 'none';
}
// ---- appends
for (const [how, c] of [
  ['call of its own', single],
  ['batch', client],
])
  await section(`appends as a ${how}`, async () => {
    const stream = `append-${randomUUID()}`,
      events = [x({ i: 1 }), x({ i: 2 }), x({ i: 3 })];
    const r = await c.appendToStream(stream, events, { expectedRevision: NO_STREAM });
    const read = await list(c.readStream(stream));
    facts[`append as a ${how}: answer`] =
      `revision ${r.nextExpectedRevision}, position of the ${r.position?.commit === read.at(-1).position?.commit ? 'last' : r.position?.commit === read[0].position?.commit ? 'first' : 'no'} event`;
    facts[`append as a ${how}: positions`] = read.every(
      (e, i) => i === 0 || e.position.commit > read[i - 1].position.commit,
    )
      ? 'grow with each event'
      : 'do not grow';
    facts[`append as a ${how}: commit and prepare`] = read.every((e) => e.position.commit === e.position.prepare)
      ? 'equal'
      : 'differ';
    const same = await c.appendToStream(stream, events, { expectedRevision: NO_STREAM });
    facts[`the same again as a ${how}`] =
      `revision ${same.nextExpectedRevision}, position ${same.position === undefined ? 'none' : same.position.commit === r.position.commit ? 'the same' : at(same.position) === 'max' ? 'max' : 'another'}`;
    await c.appendToStream(stream, [x({ i: 4 })], { expectedRevision: 2n });
    const later = await attempt(() => c.appendToStream(stream, events, { expectedRevision: NO_STREAM }));
    facts[`the same again after others as a ${how}`] =
      typeof later === 'string' ? later : `revision ${later.nextExpectedRevision}`;
    facts[`the same at any version as a ${how}`] = await attempt(
      async () =>
        `revision ${(await c.appendToStream(stream, events, { expectedRevision: ANY })).nextExpectedRevision}`,
    );
    facts[`the same at another version as a ${how}`] = await attempt(
      async () => `revision ${(await c.appendToStream(stream, events, { expectedRevision: 3n })).nextExpectedRevision}`,
    );
    facts[`the first of them alone as a ${how}`] = await attempt(
      async () =>
        `revision ${(await c.appendToStream(stream, [events[0]], { expectedRevision: NO_STREAM })).nextExpectedRevision}`,
    );
    facts[`the last of them and a new one as a ${how}`] = await attempt(
      async () =>
        `revision ${(await c.appendToStream(stream, [events[2], x()], { expectedRevision: 1n })).nextExpectedRevision}`,
    );
    facts[`length after repetitions as a ${how}`] = (await list(c.readStream(stream))).length;
    const wrong = async (name, expectedRevision) => {
      try {
        await c.appendToStream(name, [x()], { expectedRevision });
        return 'taken';
      } catch (e) {
        return `${refusal(e)}, actual ${e.actualVersion}`;
      }
    };
    facts[`wrong version as a ${how}`] = (await wrong(stream, 77n)).replace(/\d+$/, (d) =>
      d === '3' || d === '4' ? 'the newest revision' : d,
    );
    facts[`wrong version, no stream, as a ${how}`] = await wrong(`none-${randomUUID()}`, 77n);
    facts[`stream that exists asked for, as a ${how}`] = await wrong(`none-${randomUUID()}`, STREAM_EXISTS);
    if (c === single)
      facts[`append of nothing as a ${how}`] = await attempt(
        async () => `revision ${(await c.appendToStream(stream, [], { expectedRevision: ANY })).nextExpectedRevision}`,
      );
    for (const kib of [1020, 1024, 4000])
      facts[`append of ${kib} KiB as a ${how}`] = await attempt(async () => {
        await c.appendToStream(`large-${randomUUID()}`, [x({ t: 'x'.repeat(kib * 1024) })]);
        return 'taken';
      });
  });
await section('times', async () => {
  let differ = false;
  for (let i = 0; i < 400 && !differ; i++) {
    const stream = `times-${randomUUID()}`;
    await single.appendToStream(
      stream,
      Array.from({ length: 20 }, () => x({ t: 'x'.repeat(20_000) })),
    );
    const read = await list(single.readStream(stream));
    differ = read.some((e) => e.created.getTime() !== read[0].created.getTime());
  }
  facts['times of the events of one append'] = differ ? 'differ now and then' : 'are equal';
});
// ---- reads
await section('reads', async () => {
  const stream = `read-${randomUUID()}`;
  await single.appendToStream(
    stream,
    Array.from({ length: 10 }, (_, i) => x({ i })),
  );
  const read = await list(single.readStream(stream)),
    [fourth, fifth] = [read[3].position, read[4].position];
  facts['read of no stream'] = await attempt(
    async () => (await list(single.readStream(`none-${randomUUID()}`))).length,
  );
  facts['read from after the newest revision'] = await attempt(
    async () => `${(await list(single.readStream(stream, { fromRevision: 10n }))).length} events`,
  );
  facts['read from far after the newest revision'] = await attempt(
    async () => `${(await list(single.readStream(stream, { fromRevision: 1000n }))).length} events`,
  );
  facts['read of all, forwards, from an event'] = await attempt(async () =>
    (await list(single.readAll({ fromPosition: fourth, maxCount: 1 })))[0].id === read[3].id
      ? 'begins with it'
      : 'begins after it',
  );
  facts['read of all, backwards, from an event'] = await attempt(async () => {
    const e = (await list(single.readAll({ direction: BACKWARDS, fromPosition: fourth, maxCount: 1 })))[0];
    return e.id === read[3].id ? 'begins with it' : e.id === read[2].id ? 'begins with the one before' : 'elsewhere';
  });
  const between = { commit: fourth.commit + 1n, prepare: fourth.commit + 1n };
  facts['read of all from between two events'] = await attempt(async () =>
    (await list(single.readAll({ fromPosition: between, maxCount: 1 })))[0].id === read[4].id
      ? 'begins with the next'
      : 'elsewhere',
  );
  facts['read of all from after the end'] = await attempt(
    async () =>
      `${(await list(single.readAll({ fromPosition: { commit: fifth.commit + 10n ** 9n, prepare: fifth.commit + 10n ** 9n }, maxCount: 1 }))).length} events`,
  );
  const first = async (fromPosition) => {
    const said = await hear(fromPosition, byName('^[^$]'));
    const e = said.find((s) => s.event)?.event;
    return e === undefined
      ? `no event: ${words(said)}`
      : e.id === read[4].id
        ? 'begins with the next'
        : e.id === read[3].id
          ? 'begins with it'
          : 'elsewhere';
  };
  facts['subscription from an event'] = await first(fourth);
  facts['subscription from between two events'] = await first(between);
  facts['subscription from after the end'] = words(
    await hear({ commit: fifth.commit + 10n ** 9n, prepare: fifth.commit + 10n ** 9n }, byName('^[^$]')),
  ).slice(0, 80);
});
// ---- what a filter passes over
await section('filters', async () => {
  const stream = `many-${randomUUID()}`;
  for (let i = 0; i < 5; i++)
    await single.appendToStream(
      stream,
      Array.from({ length: 1000 }, (_, n) => x({ n })),
    );
  const end = (await list(single.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })))[0].position.commit;
  for (const [name, filter] of [
    ['a category', byPrefix('nothing-')],
    ['a type', byType('Nothing')],
  ]) {
    const said = await hear(START, filter);
    const points = said.filter((s) => s.checkpoint).map((s) => s.checkpoint.commit);
    facts[`5,000 events passed over by ${name}`] = words(said);
    facts[`5,000 events passed over by ${name}: checkpoints`] =
      `${points.length >= 8 ? 'about one for every 500' : points.length}, growing: ${points.every((p, i) => i === 0 || p >= points[i - 1])}, the first ${points[0] === 0n ? '0' : points[0] === MAX ? 'max' : 'later'}, the last ${points.at(-1) === undefined ? 'none' : points.at(-1) >= end ? 'the end' : points.at(-1) === MAX ? 'max' : 'before the end'}`;
  }
  const few = await hear({ commit: end, prepare: end }, byPrefix('nothing-'), {
    during: async (note) => {
      for (let i = 0; i < 10; i++) await single.appendToStream(stream, [x()]);
      note('10 passed over');
    },
  });
  facts['from the end, then 10 passed over'] = words(few);
  const many = await hear({ commit: end, prepare: end }, byPrefix('nothing-'), {
    during: async (note) => {
      for (let i = 0; i < 2; i++)
        await single.appendToStream(
          stream,
          Array.from({ length: 1000 }, () => x()),
        );
      note('2,000 passed over');
    },
  });
  facts['from the end, then 2,000 passed over'] = words(many.filter((s) => s !== '2,000 passed over'));
  const mine = `few-${randomUUID()}`;
  await single.appendToStream(mine, [x()]);
  const tail = await hear(START, byPrefix('few-'));
  facts['one event of a category at the end of 5,000'] = words(tail);
  const live = await hear({ commit: end, prepare: end }, byName('^[^$]'), {
    during: async () => {
      for (let i = 0; i < 3; i++) {
        await single.appendToStream(mine, [x()]);
        await sleep(200);
      }
    },
  });
  facts['live, everything'] = words(live.slice(live.findLastIndex((s) => s === 'caught up')));
});
if (!recorded) console.log(JSON.stringify(facts, null, 2));
else {
  const known = JSON.parse(readFileSync(recorded, 'utf8')).facts;
  const differ = Object.keys({ ...known, ...facts }).filter((k) => String(known[k]) !== String(facts[k]));
  for (const k of differ) console.log(`DIFFERS  ${k}\n   recorded: ${known[k]}\n   here:     ${facts[k]}`);
  console.log(`${Object.keys(known).length - differ.length} of ${Object.keys(known).length} as recorded`);
  process.exitCode = differ.length ? 1 : 0;
}
process.exit();
