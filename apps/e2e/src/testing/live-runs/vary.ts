import * as fc from 'fast-check';

/** Runs of a trial; one more has an id that is sent only as that of another. */
export const RUNS = 6;

/**
 * Session that a change names, by its place among those of a trial: 0 is there before, 1 was uploaded, 2 and 3 are made
 * by the first run that names them, and 4 is an id that no session has.
 */
export interface Place {
  readonly by: 'id' | 'name';
  readonly session: number;
}

/** Faults for which a change is refused before anything else of it counts. */
export const FAULTS: Readonly<Record<string, readonly [member: string, json: string]>> = {
  time: ['start_time', '"yesterday"'],
  inputs: ['inputs', '5'],
  tags: ['tags', '{"a":1}'],
  parent: ['parent_run_id', '"nobody"'],
  // Ends too early: other forms of a request would be no JSON as a whole.
  broken: ['outputs', '{"a":'],
};

/** A change of one run. Members are JSON texts, in which `$2` is the id of run 2 and `#9` nine characters. */
export interface Change {
  readonly method: 'post' | 'patch';
  readonly run: number;
  readonly place?: Place;
  readonly members: Readonly<Record<string, string>>;
  readonly fault?: string;
}

interface Attachment {
  readonly run: number;
  readonly name: string;
  readonly text: string;
}

/** A request: `POST /runs` and `PATCH /runs/{id}` hold one change, the others any number in the order that counts. */
export interface Sent {
  readonly form: 'run' | 'patch' | 'batch' | 'multipart';
  readonly changes: readonly Change[];
  readonly attachments: readonly Attachment[];
}

/** Requests at the same time, on different runs; or those of an earlier step once more. */
type Step = { readonly sent: readonly Sent[] } | { readonly again: number };

export interface Trial {
  readonly steps: readonly Step[];
  /** The service is killed so many milliseconds after the requests of a step were sent, and then they are repeated. */
  readonly kill?: { readonly step: number; readonly after: number };
}

const some = <T>(values: readonly T[]) => fc.constantFrom(...values);
const OBJECTS = [
  ...['{}', '{"q":1}', '{ "big": 12345678901234567890, "one": 1.0, "huge": 1e400 }', '{"nul":"a\\u0000b\\ud800"}'],
  ...['{"twice":1,"twice":2,"__proto__":{"x":"é\\u00e9"}}', '{"long":"#3000"}', '{"metadata":{"thread_id":"t"}}'],
];
/** Larger than half of an event. */
const LARGE = '{"long":"#600000"}';
const TIMES = ['"2026-01-01T00:00:00.000001Z"', '"2026-01-01T00:00:02.500000Z"', '"2026-01-01T00:00:09.999999Z"'];
const text = some(['"it broke"', '""', '"a\\u0000b"', '"é\\u00e9\\ud83d\\ude00"']);
const object = some(OBJECTS);
const run = fc.nat(RUNS).map((at) => `"$${at}"`);
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  name: some(['"answer"', '"step"', '""']),
  run_type: some(['"llm"', '"tool"', '"own kind"']),
  start_time: some(TIMES),
  end_time: some(TIMES),
  error: text,
  inputs: fc.oneof({ weight: 12, arbitrary: object }, { weight: 1, arbitrary: fc.constant(LARGE) }),
  outputs: fc.oneof(object, text, some(['[{"a":1},{"a": 2}]', LARGE])),
  extra: object,
  tags: some(['[]', '["x","y"]', '["\\u0000"]']),
  events: some(['[]', '[{"name":"new_token"},"text"]']),
  serialized: object,
  parent_run_id: run,
  trace_id: run,
  dotted_order: some(['"20260101T000000000001Z$0"', '"20260101T000000000001Z$0.20260101T000000000002Z$1"']),
  reference_example_id: run,
};
export const MEMBERS = Object.keys(VALUES);

const place = fc.oneof<fc.Arbitrary<Place>[]>(
  fc.record({ by: fc.constant('name' as const), session: some([0, 0, 1, 2, 2, 2, 3, 3]) }),
  fc.record({ by: fc.constant('id' as const), session: some([0, 0, 0, 1, 4]) }),
);
const maybe = <T>(one: fc.Arbitrary<T>, of: number) => fc.option(one, { freq: of - 1, nil: undefined });
const seldom = <T>(one: fc.Arbitrary<T>, of: number) =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: one });

const members = fc
  .tuple(fc.record(VALUES), fc.subarray(MEMBERS, { maxLength: 6 }), seldom(some(MEMBERS), 5))
  .map(([values, named, nothing]) =>
    Object.fromEntries(named.map((name) => [name, name === nothing ? 'null' : values[name]!])),
  );

const change = fc.record({
  method: some(['post', 'patch'] as const),
  run: fc.nat(RUNS - 1),
  place: maybe(place, 4),
  members,
  fault: seldom(some(Object.keys(FAULTS)), 10),
});
const attachment = fc.record({
  run: fc.nat(RUNS - 1),
  name: some(['image', 'notes.txt']),
  text: some(['', 'one', 'two\r\nlines', '#500']),
});

const sent = fc
  .record({
    form: some(['run', 'patch', 'batch', 'batch', 'multipart', 'multipart'] as const),
    changes: fc.array(change, { minLength: 1, maxLength: 9, size: 'max' }),
    attachments: fc.oneof(fc.constant([]), fc.array(attachment, { maxLength: 3 })),
  })
  .map(asSent);

/** Gives each of several requests at the same time runs of its own. */
function apart(requests: readonly Sent[]): readonly Sent[] {
  return requests.map((one, nth) => {
    const own = <T extends { readonly run: number }>(of: T) => ({
      ...of,
      run: of.run - (of.run % requests.length) + nth,
    });
    return asSent({ ...one, changes: one.changes.map(own), attachments: one.attachments.map(own) });
  });
}

/** A request as its form allows it: what no form can say is left out. */
function asSent({ form, changes, attachments }: Sent): Sent {
  if (form === 'run' || form === 'patch') {
    const { run: own, place: named, members: values, fault } = changes[0]!;
    const method = form === 'run' ? 'post' : 'patch';
    return {
      form,
      changes: [{ method, run: own, place: named, members: values, fault: whole(fault) }],
      attachments: [],
    };
  }
  if (form === 'multipart') {
    return {
      form,
      changes: first(changes, ({ method, run: own }) => `${method} ${own}`),
      attachments: named(attachments),
    };
  }
  // The new runs are read first.
  const ordered = changes.toSorted((one, other) => Number(one.method === 'patch') - Number(other.method === 'patch'));
  return { form, changes: ordered.map((one) => ({ ...one, fault: whole(one.fault) })), attachments: [] };
}

function named(attachments: readonly Attachment[]): readonly Attachment[] {
  return first(attachments, ({ run: own, name }) => `${own} ${name}`);
}

function whole(fault: string | undefined): string | undefined {
  return fault === 'broken' ? 'time' : fault;
}

/** The first of the things that have a key. */
function first<T>(things: readonly T[], keyOf: (thing: T) => string): readonly T[] {
  return [...new Map(things.toReversed().map((thing) => [keyOf(thing), thing])).values()].toReversed();
}

/** Trials of several steps. */
export const trials: fc.Arbitrary<Trial> = fc.record({
  steps: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.record({ sent: fc.array(sent, { minLength: 1, maxLength: 3 }).map(apart) }) },
      { weight: 1, arbitrary: fc.record({ again: fc.nat(8) }) },
    ),
    { minLength: 2, maxLength: 8, size: 'max' },
  ),
  kill: fc.option(fc.record({ step: fc.nat(5), after: fc.nat(40) }), { freq: 2, nil: undefined }),
});
