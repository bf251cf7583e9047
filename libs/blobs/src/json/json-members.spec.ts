import fc from 'fast-check';
import { MemberNames } from './json-members';

const NAMES = ['id', 'inputs', 'error', 'score', 'start_time'] as const;
const names = new MemberNames(NAMES);
const members = (json: string) => names.of(Buffer.from(json));

describe('members that are looked for', () => {
  it('are the bytes that were sent', () => {
    const found = members('{ "other" : [1, {"id": 5}], "inputs" : { "a": "}\\"{" , "b":[ ] } ,"id":"x" }');
    expect(found.raw('inputs')?.toString()).toBe('{ "a": "}\\"{" , "b":[ ] }');
    expect(found.raw('id')?.toString()).toBe('"x"');
  });

  it('are null when they are absent or null', () => {
    const found = members('{"id":null,"error":"null","identifier":1}');
    expect([found.raw('id'), found.characters('id'), found.value('id')]).toEqual([null, null, null]);
    expect([found.raw('inputs'), found.characters('inputs'), found.value('inputs')]).toEqual([null, null, null]);
    expect(found.value('error')).toBe('null');
  });

  it('are the last of those with the same name, which may be sent with escapes', () => {
    const found = members(String.raw`{"\u0069d":"first","id":"second","err\u006Fr":"third"}`);
    expect([found.value('id'), found.value('error')]).toEqual(['second', 'third']);
    expect(members(String.raw`{"id":"first","\u0069d":"second"}`).value('id')).toBe('second');
  });

  it('are what JSON.parse makes of them', () => {
    const scalar = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
    );
    const object = fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.string()), scalar);
    fc.assert(
      fc.property(object, fc.nat(4), (given, indent) => {
        const json = JSON.stringify(given, null, indent);
        const parsed = JSON.parse(json) as Record<string, unknown>;
        const found = members(json);
        for (const name of NAMES) {
          const value = Object.hasOwn(parsed, name) ? parsed[name] : null;
          expect(found.value(name)).toBe(value);
          const characters = typeof value === 'string' ? Buffer.from(value) : null;
          expect(found.characters(name)).toEqual(characters);
        }
      }),
    );
  });
});
