import fc from 'fast-check';
import {
  anyJson,
  bool,
  check,
  csv,
  datetime,
  dict,
  type Infer,
  instant,
  int,
  list,
  literal,
  member,
  object,
  optional,
  Problems,
  rawDict,
  record,
  refine,
  type Schema,
  secret,
  str,
  union,
  uuid,
  webUrl,
} from '.';
import { BadRequest } from './errors';

const run = (schema: Schema<unknown>, input: unknown) => {
  const problems = new Problems();
  const value = check(schema, input, ['body'], problems);
  return problems.total === 0 ? { value } : { problems: problems.list() };
};
const places = (schema: Schema<unknown>, input: unknown) =>
  run(schema, input).problems?.map(({ type, loc }) => [type, loc.slice(1).join('.')]);

describe('An object', () => {
  const schema = object({
    name: str(),
    limit: optional(int(), 20),
    note: optional(str()),
    spec: optional(object({ cache_cpu: member(optional(int()), { alias: 'redis_cpu' }) })),
    kind: optional(literal(['codehost', 'internal'], { aliases: { github: 'codehost' } })),
  });

  it('leaves out what it does not know, and takes null for absent', () => {
    const value: Infer<typeof schema> | undefined = check(
      schema,
      { name: 'a', limit: null, note: null, x: 1 },
      [],
      new Problems(),
    );
    expect(value).toEqual({ name: 'a', limit: 20 });
    expect(value).not.toHaveProperty('note');
  });

  it('that is closed refuses what it does not know, after its own problems', () => {
    const limits = object(
      'Limits',
      { least: optional(int()), most: member(optional(int()), { alias: 'max' }) },
      {
        closed: true,
      },
    );
    expect(run(limits, { max: 2 })).toEqual({ value: { most: 2 } });
    expect(run(limits, { lest: 1, least: 'a' }).problems).toMatchObject([
      { type: 'int_parsing', loc: ['body', 'least'] },
      { type: 'extra_forbidden', loc: ['body', 'lest'], msg: 'Extra inputs are not permitted', input: 1 },
    ]);
    expect(limits.json).toMatchObject({ additionalProperties: false });
    const secrets = object('Secrets', { value: secret(str()) }, { closed: true });
    expect(run(secrets, { value: 'a', valeu: 'hidden' }).problems).toMatchObject([{ input: '[redacted]' }]);
  });

  it('takes second names of members and values', () => {
    expect(run(schema, { name: 'a', kind: 'github', spec: { redis_cpu: 2 } })).toEqual({
      value: { name: 'a', limit: 20, kind: 'codehost', spec: { cache_cpu: 2 } },
    });
    expect(run(schema, { name: 'a', spec: { redis_cpu: 2, cache_cpu: 2 } }).value).toMatchObject({
      spec: { cache_cpu: 2 },
    });
    for (const spec of [
      { redis_cpu: null, cache_cpu: 2 },
      { redis_cpu: 2, cache_cpu: null },
    ]) {
      expect(run(schema, { name: 'a', spec }).value).toMatchObject({ spec: { cache_cpu: 2 } });
    }
    expect(() => run(schema, { name: 'a', spec: { redis_cpu: 1, cache_cpu: 2 } })).toThrow(BadRequest);
  });

  it('tells a problem under the name that was used, all in the order of its members', () => {
    expect(places(schema, { kind: 'x', spec: { redis_cpu: 'x' }, limit: 'x' })).toEqual([
      ['missing', 'name'],
      ['int_parsing', 'limit'],
      ['int_parsing', 'spec.redis_cpu'],
      ['literal_error', 'kind'],
    ]);
  });

  it('cannot have members that every object has', () => {
    expect(() => object({ constructor: str() })).toThrow();
  });

  it('describes itself as JSON Schema', () => {
    expect(JSON.parse(JSON.stringify(object('Thing', { id: uuid(), n: optional(int({ ge: 1 }), 3) }).json))).toEqual({
      type: 'object',
      title: 'Thing',
      properties: {
        id: { type: 'string', format: 'uuid' },
        n: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: 3 },
      },
      required: ['id'],
    });
  });
});

describe('Problems', () => {
  it('are listed up to a hundred, and counted', () => {
    const { problems = [] } = run(list(int()), Array(250).fill('x'));
    expect(problems).toHaveLength(101);
    expect(problems[100]).toEqual({
      type: 'too_many_errors',
      loc: ['body'],
      msg: '150 more errors are not listed',
      input: null,
      ctx: { count: 250 },
    });
  });

  it.each([
    ['x'.repeat(100_000)],
    [Array(50_000).fill({ a: 'y'.repeat(500) })],
    [Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]))],
  ])('show long inputs shortened: %#', (input) => {
    const [problem] = run(int(), input).problems ?? [];
    const shown = JSON.stringify(problem?.input);
    expect(shown.length).toBeLessThan(2048);
    expect(shown).toContain('…');
  });

  const secrets = object({
    name: str(),
    secrets: list(object({ name: str({ max: 3 }), value: secret(str({ max: 5 })) })),
  });

  it.each([
    [{ name: 1, secrets: [{ name: 'abc', value: 'hunter2' }] }],
    [{ secrets: [{ name: 'abc', value: 'hunter2' }] }],
    [{ name: 'a', secrets: [{ value: 'hunter2' }] }],
    [{ name: 'a', secrets: [{ name: 'toolong', value: 'hunter2' }] }],
    [{ name: 'a', secrets: [{ name: 'a', vaule: 'hunter2' }] }],
    [{ name: 'a', secrets: { value: 'hunter2' } }],
    [{ name: 'a', secrets: ['hunter2'] }],
    [{ name: 'a', secrets: 'hunter2' }],
    [[{ value: 'hunter2' }]],
    ['{"secrets":[{"value":"hunter2"}]}'],
  ])('never show a secret: %j', (input) => {
    const shown = JSON.stringify(run(secrets, input).problems);
    expect(shown).toMatch(/"type"/);
    expect(shown).not.toContain('hunter2');
  });

  it('never show a secret that breaks a further rule', () => {
    const { problems } = run(
      refine(secret(str()), () => 'must be longer'),
      'hunter2',
    );
    expect(problems).toMatchObject([{ type: 'value_error', input: '[redacted]' }]);
  });

  it('show what stands beside a secret', () => {
    expect(run(secrets, { secrets: [{ name: 'abc', value: 'x' }] }).problems?.[0]?.input).toEqual({
      secrets: [{ name: 'abc', value: '[redacted]' }],
    });
  });

  it('redact no more of a large value than is shown', () => {
    const shownOf = (count: number) => {
      const input = Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, n]));
      return run(object({ key: secret(str()) }), input).problems?.[0]?.input as object;
    };
    expect(shownOf(20_000)).toEqual(shownOf(300));
    expect(Object.values(shownOf(20_000)).at(-1)).toBe('…');
    let redacted = 0;
    const counting = { ...secret(str()), redact: () => ++redacted };
    run(object({ list: list(counting), other: str() }), { list: Array.from({ length: 20_000 }, () => 'x') });
    run(object({ record: record(counting), other: str() }), {
      record: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`m${n}`, 'x'])),
    });
    expect(redacted).toBeGreaterThan(0);
    expect(redacted).toBeLessThan(1_000);
  });
});

describe('Text', () => {
  it.each([
    ['a\0b', 'value_error'],
    ['a\ud800b', 'string_unicode'],
  ])('that cannot be stored is refused unless asked for: %j', (text, type) => {
    expect(places(str(), text)).toEqual([[type, '']]);
    expect(run(str({ anyText: true }), text)).toEqual({ value: text });
  });

  it('is measured in characters', () => {
    expect(run(str({ max: 2 }), '😀😀')).toEqual({ value: '😀😀' });
    expect(places(str({ min: 2 }), '😀')).toEqual([['string_too_short', '']]);
  });
});

describe('A URL', () => {
  const url = webUrl({ max: 40 });

  it('is http or https, and stays as it was sent', () => {
    for (const text of [
      'https://a.example',
      'HTTP://A.example:80/x?y=1#z',
      'http://10.0.0.1',
      'https://münchen.example',
    ]) {
      expect(run(url, text)).toEqual({ value: text });
    }
  });

  it.each([
    ['javascript:alert(1)', 'url_scheme'],
    [' javascript:alert(1)', 'url_scheme'],
    ['java\nscript:alert(1)', 'url_scheme'],
    ['data:text/html,x', 'url_scheme'],
    ['ftp://a.example', 'url_scheme'],
    ['', 'url_parsing'],
    ['a.example/x', 'url_parsing'],
    ['//a.example', 'url_parsing'],
    ['https://', 'url_parsing'],
    ['https:a.example', 'url_parsing'],
    ['https://a.example\\x', 'url_parsing'],
    ['https://a.example/ x', 'url_parsing'],
    ['https://a.example/\u202e', 'url_parsing'],
    [`https://a.example/${'x'.repeat(40)}`, 'string_too_long'],
    [5, 'string_type'],
  ])('is not %j', (text, type) => {
    expect(places(url, text)).toEqual([[type, '']]);
  });

  it('is refused as fast when it is long', () => {
    // The time of this process alone, however busy the machine is.
    const start = process.cpuUsage();
    expect(places(webUrl(), `http://${'a'.repeat(200_000)}@a.example/ x`)).toEqual([['url_parsing', '']]);
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
  });
});

describe('Free-form JSON', () => {
  it('is kept as it was parsed, odd member names included', () => {
    const input = JSON.parse('{"__proto__":{"polluted":true},"constructor":1,"a":[null,{"b":"\\u0000"}]}') as object;
    expect(check(dict(), input, [], new Problems())).toBe(input);
    expect(JSON.stringify(run(record(anyJson()), input).value)).toBe(JSON.stringify(input));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('holds no number that JSON.parse changed, unless the caller keeps the bytes', () => {
    const input = JSON.parse('{"a":[1e400,{"b":9007199254740993}],"c":0.1}') as object;
    expect(places(dict(), input)).toEqual([
      ['finite_number', 'a.0'],
      ['value_error', 'a.1.b'],
    ]);
    expect(run(rawDict(), input)).toEqual({ value: input });
  });
});

describe('Lists in a query', () => {
  it('are repeated or separated by commas', () => {
    const a = '12345678-1234-5678-1234-567812345678';
    expect(run(csv(uuid()), `${a},,${a}`)).toEqual({ value: [a, a] });
    expect(run(csv(uuid()), [a, `${a}, ${a}`])).toEqual({ value: [a, a, a] });
    expect(places(csv(uuid(), { max: 1 }), [a, 'x'])).toEqual([['too_long', '']]);
    expect(places(csv(uuid()), [a, 'x'])).toEqual([['uuid_parsing', '1']]);
  });
});

describe('A union', () => {
  it('takes a value as it is before it converts', () => {
    const score = union(int(), str());
    expect(run(score, '5')).toEqual({ value: '5' });
    expect(run(score, 5)).toEqual({ value: 5 });
    expect(run(score, true)).toEqual({ value: 1 });
    expect(places(score, [])).toEqual([
      ['int_type', 'int'],
      ['string_type', 'str'],
    ]);
  });
});

it('A further rule is told as a value error', () => {
  const even = refine(int(), (value) => (value % 2 === 0 ? undefined : 'must be even'));
  expect(run(even, 2)).toEqual({ value: 2 });
  expect(run(even, 3).problems).toEqual([
    { type: 'value_error', loc: ['body'], msg: 'Value error, must be even', input: 3, ctx: { error: 'must be even' } },
  ]);
});

describe('A UUID', () => {
  it('is accepted in every form and told in one', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.boolean(), (id, upper) => {
        for (const form of [id, id.replaceAll('-', ''), `{${id}}`, `urn:uuid:${id}`]) {
          const given = upper && !form.startsWith('urn') ? form.toUpperCase() : form;
          expect(run(uuid(), given)).toEqual({ value: id });
        }
      }),
    );
  });

  it('never takes any other text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-fg{}-]{30,40}$/), (text) => {
        const hex = text.replace(/^\{(.*)\}$/, '$1');
        const valid = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(hex) || /^[0-9a-f]{32}$/.test(text);
        expect('value' in run(uuid(), text)).toBe(valid);
      }),
    );
  });
});

describe('A time', () => {
  const years = { min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true };

  it('is the same instant in every way to write it', () => {
    fc.assert(
      fc.property(fc.date(years), fc.nat(999), fc.integer({ min: -1439, max: 1439 }), (date, micros, offset) => {
        const sign = offset < 0 ? '-' : '+';
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const zone = `${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
        const local = new Date(date.getTime() + offset * 60_000).toISOString();
        const fraction = `${date.toISOString().slice(20, 23)}${String(micros).padStart(3, '0')}`;
        const iso = `${date.toISOString().slice(0, 19)}${fraction === '000000' ? '' : `.${fraction}`}+00:00`;
        for (const text of [
          `${local.slice(0, 19)}.${fraction}${zone}`,
          `${local.slice(0, 19)}.${fraction}999${zone}`,
          iso,
        ]) {
          expect(run(datetime(), text).value).toMatchObject({ iso });
        }
      }),
    );
  });

  it('agrees with Date on what dates there are', () => {
    const part = (max: number) => fc.nat(max).map((n) => String(n).padStart(2, '0'));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        part(13),
        part(32),
        part(25),
        part(61),
        (year, month, day, hour, minute) => {
          const text = `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}:00`;
          const date = new Date(`${text}Z`);
          const real = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
          expect('value' in run(datetime(), text)).toBe(real);
        },
      ),
    );
  });

  it('is the same with a small t, which is read in another way', () => {
    const part = (most: number) => fc.nat(most).map((n) => String(n).padStart(2, '0'));
    const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^[.,][0-9x]{0,8}$/));
    const zone = fc.constantFrom('', 'Z', 'z', '+00:00', '-00:00', '+0000', '+01:00', 'Z+00:00');
    const clock = fc.tuple(part(24), part(60), part(60), fraction, zone);
    fc.assert(
      fc.property(clock, ([hours, minutes, seconds, digits, offset]) => {
        const time = `${hours}:${minutes}:${seconds}${digits}${offset}`;
        const { value } = run(datetime(), `2024-02-29T${time}`);
        expect(value).toEqual(run(datetime(), `2024-02-29t${time}`).value);
      }),
      { numRuns: 2000 },
    );
  });

  it('has microseconds', () => {
    expect(run(datetime(), '2026-01-02T03:04:05.1234567Z').value).toEqual({
      iso: '2026-01-02T03:04:05.123456+00:00',
      micros: 1767323045123456,
    });
    expect(instant(new Date(0))).toEqual({ iso: '1970-01-01T00:00:00+00:00', micros: 0 });
  });
});

describe('A boolean', () => {
  const words = { true: ['true', '1', 'yes', 'on', 't', 'y'], false: ['false', '0', 'no', 'off', 'f', 'n'] };
  it.each(Object.entries(words))('is %s in six words, in any case', (name, texts) => {
    for (const text of texts.flatMap((word) => [word, word.toUpperCase()])) {
      expect({ text, ...run(bool(), text) }).toEqual({ text, value: name === 'true' });
    }
  });
});
