import fc from 'fast-check';
import { JsonCutter } from './json-cutter';

const LIMITS = { member: 60, run: 300, kept: 100_000 };

/** The rest of a body that arrives in pieces. */
function pieces(body: Buffer, length: number, cutter: JsonCutter) {
  for (let at = 0; at < body.length; at += length) cutter.push(body.subarray(at, at + length));
  const { body: cut, large } = cutter.finish();
  return { text: cut.toString(), large: large.map(({ name }) => name) };
}

// Texts that look like the ends of values.
const text = fc
  .array(fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'é', ' ', 'x'.repeat(30)), { maxLength: 8 })
  .map((parts) => parts.join(''));
const value = fc.oneof(
  text,
  // JSON has neither infinite numbers nor a negative zero.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.constantFrom(null, true, [], {}),
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, text, { maxKeys: 3 }),
);
const run = fc.record({
  id: fc.uuid(),
  members: fc.dictionary(fc.oneof(fc.constantFrom('outputs', 'inputs', 'post', 'id"'), text), value, { maxKeys: 6 }),
});
const spaces = fc.constantFrom(undefined, 1, '\t');
const isLarge = (json: string) => Buffer.byteLength(json) > LIMITS.member;

it('leaves out the members and runs that are too large and nothing else, however the body arrives', () => {
  fc.assert(
    fc.property(
      fc.array(run, { maxLength: 5 }),
      fc.array(run, { maxLength: 3 }),
      value,
      fc.integer({ min: 1, max: 60 }),
      (post, patch, other, length) => {
        const lists = { post, patch };
        const sent = Object.fromEntries(
          Object.entries(lists).map(([name, runs]) => [name, runs.map(({ id, members }) => ({ id, ...members }))]),
        );
        const { text: cut, large } = pieces(
          Buffer.from(JSON.stringify({ other, ...sent })),
          length,
          new JsonCutter(true, LIMITS),
        );
        const named: string[] = [];
        const rest = Object.fromEntries(
          Object.entries(sent).map(([list, runs]) => [
            list,
            runs.map((one, at) => {
              const kept: Record<string, unknown> = {};
              const own: string[] = [];
              for (const [name, member] of Object.entries(one)) {
                const isCut = isLarge(JSON.stringify(member));
                if (isCut) own.push(`${list}.${at}.${name || '""'}`);
                kept[name] = isCut ? null : member;
              }
              if (Buffer.byteLength(JSON.stringify(kept)) > LIMITS.run - LIMITS.member) return 'unclear';
              named.push(...own);
              return kept;
            }),
          ]),
        );
        const got = JSON.parse(cut) as typeof sent;
        // A run can be left out for what it has in the meantime, before a member of it is.
        const clear = (one: unknown, list: string, at: number) =>
          rest[list]![at] === 'unclear' || large.includes(`${list}.${at}`) ? 'unclear' : one;
        for (const list of ['post', 'patch']) {
          const wanted = rest[list]!.map((one, at) => clear(one, list, at));
          expect(got[list]!.map((one, at) => clear(one, list, at))).toEqual(wanted);
          expect(got[list]!.map(({ id }) => id)).toEqual(sent[list]!.map(({ id }) => id));
          expect(rest[list]!.filter((one, at) => one !== 'unclear' && large.includes(`${list}.${at}`))).toEqual([]);
        }
        expect(got.other).toEqual(JSON.parse(JSON.stringify(other)));
        expect(large).toEqual(expect.arrayContaining(named));
      },
    ),
    { numRuns: 1000 },
  );
});

it('leaves every byte as it is of a body in which nothing is too large', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 4 }), spaces, fc.integer({ min: 1, max: 40 }), (post, space, length) => {
      const body = JSON.stringify({ post: post.map(({ id, members }) => ({ id, ...members })) }, null, space);
      const large = { ...LIMITS, member: 10_000, run: 10_000 };
      expect(pieces(Buffer.from(body), length, new JsonCutter(true, large))).toEqual({ text: body, large: [] });
    }),
  );
});

it('leaves out members of a run that was sent alone', () => {
  const body = Buffer.from(` {"id": "a", "outputs" : {"text": "${'x'.repeat(70)}"} , "name": "n"}\n`);
  for (const length of [1, 7, 1000]) {
    const { text: cut, large } = pieces(body, length, new JsonCutter(false, LIMITS));
    expect(large).toEqual(['outputs']);
    expect(JSON.parse(cut)).toEqual({ id: 'a', outputs: null, name: 'n' });
  }
});

it('holds no more than it may, whatever is sent', () => {
  const limits = { member: 1000, run: 5000, kept: 20_000 };
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom('{"post":[', '{', '"', '"id":"a",', '"outputs":"x",', ':', ',', ']', '}', 'x'.repeat(900)),
        {
          minLength: 100,
          maxLength: 400,
        },
      ),
      fc.boolean(),
      (parts, isBatch) => {
        const cutter = new JsonCutter(isBatch, limits);
        let most = 0;
        try {
          for (const part of parts) {
            cutter.push(Buffer.from(part));
            most = Math.max(most, cutter.size);
          }
          cutter.finish();
        } catch (error) {
          expect((error as Error).message).toMatch(/too large outside of its runs/);
        }
        expect(most).toBeLessThanOrEqual(limits.kept + 1024 * 1024);
      },
    ),
  );
  const ids = new JsonCutter(true, limits);
  ids.push(Buffer.from('{"post":['));
  const one = Buffer.from(`{"id":"${'i'.repeat(500)}","outputs":[${`"${'x'.repeat(400)}",`.repeat(20)}1]},`);
  expect(() => {
    for (let n = 0; n < 5000; n++) ids.push(one);
  }).toThrow('too many runs that are too large');
});

it.each(['{"post":[', '{"post":[{"id":"a"', '{"post":[{"id":"a","x":"', '[', ']]]}}}', '{"post":[}]', '\\"\\"', ''])(
  'makes no JSON of what is none: %j',
  (body) => {
    const { text: cut } = pieces(Buffer.from(body), 3, new JsonCutter(true, LIMITS));
    expect(cut).toBe(body);
  },
);
