import { array, assert, constant, integer, jsonValue, letrec, oneof, property, string, tuple } from 'fast-check';
import { sameJson } from './same-json';

const same = (one: string, other: string) => sameJson(Buffer.from(one), Buffer.from(other));

describe('Two JSON values', () => {
  it('are the same however they are written', () => {
    assert(
      property(jsonValue({ maxDepth: 4 }), integer({ min: 0, max: 3 }), (value, space) => {
        const turned = JSON.stringify(reversed(value), null, space);
        return same(JSON.stringify(value), turned);
      }),
    );
    for (const [one, other] of [
      ['1', '1.0'],
      ['0', '-0.00'],
      ['100', '1e2'],
      ['1e+21', '1000000000000000000000'],
      ['0.015', '15E-3'],
      ['"\\u0061\\/"', '"a/"'],
      ['{"a":1,"\\u0062":2}', '{ "b": 2, "a": 1 }'],
    ] as const) {
      expect(same(one, other)).toBe(true);
    }
  });

  it('differ when any part of them does', () => {
    for (const [one, other] of [
      ['1', '"1"'],
      ['null', 'false'],
      ['true', 'false'],
      ['9007199254740992', '9007199254740993'],
      ['1e400', '1e401'],
      ['-1', '1'],
      ['[1,2]', '[2,1]'],
      ['[1]', '[1,1]'],
      ['{"a":1}', '{"a":1,"b":null}'],
      ['{"a":1}', '{"b":1}'],
      ['{}', '[]'],
      ['""', '"\\u0000"'],
    ] as const) {
      expect(same(one, other)).toBe(false);
    }
    const { tree } = letrec((tie) => ({
      tree: oneof(
        { maxDepth: 3 },
        constant('1'),
        tuple(string(), tie('tree')).map(member),
        array(tie('tree')).map(list),
      ),
    }));
    assert(property(tree, (json) => same(String(json), String(json)) && !same(String(json), `[${String(json)}]`)));
  });
});

const member = ([name, value]: [string, unknown]) => `{${JSON.stringify(name)}:${String(value)}}`;
const list = (values: unknown[]) => `[${values.join(',')}]`;

/** The same value with its members in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, own]) => [name, reversed(own)]),
  );
}
