import { Random } from '../fuzz/random';
import {
  COMMENTS,
  ERRORS,
  type Example,
  type Feedback,
  iso,
  type Json,
  KEYS,
  LABELS,
  MEMBER_KEYS,
  type Members,
  METADATA_KEYS,
  micros,
  MODELS,
  NAMES,
  ROWS,
  type Run,
  SECOND,
  type Session,
  SOURCES,
  SPLITS,
  TAGS,
  type Things,
  TYPES,
  WORDS,
  WRITERS,
} from './things';

const DAY = Date.UTC(2026, 0, 2) * 1000;

/** Times that several runs share, and that differ in microseconds only. */
function someTime(random: Random): string {
  return iso(DAY + random.below(5) * SECOND + random.below(3) * 1000 + random.below(2));
}

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;
const sometimes = <T>(random: Random, times: number, make: () => T): T | null => (random.oneIn(times) ? make() : null);

function memberValue(random: Random): Json {
  switch (random.below(7)) {
    case 0:
      return random.below(4);
    case 1:
      return random.oneIn(2);
    case 2:
      return null;
    case 3:
      return { k: pick(random, WORDS) };
    default:
      return pick(random, WORDS);
  }
}

function members(random: Random): Members {
  const count = random.below(4);
  return Object.fromEntries(Array.from({ length: count }, () => [pick(random, MEMBER_KEYS), memberValue(random)]));
}

function metadata(random: Random): Members {
  const values: Record<string, () => Json> = {
    model: () => pick(random, MODELS),
    n: () => random.below(4),
    'a.b': () => pick(random, WORDS),
    thread_id: () => `t${random.below(3)}`,
    session_id: () => `s${random.below(3)}`,
    nested: () => ({ deep: { k: pick(random, WORDS) }, n: random.below(3) }),
    flag: () => random.oneIn(2),
    nothing: () => null,
  };
  const chosen = METADATA_KEYS.filter(() => random.oneIn(3));
  return Object.fromEntries(chosen.map((name) => [name, values[name]!()]));
}

function usage(random: Random): Members {
  const [input, output] = [random.below(3) * 10, random.below(3) * 7];
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    ...(random.oneIn(2) && { input_cost: 0.5, output_cost: 0.25, total_cost: 0.75 }),
  };
}

function feedback(random: Random, comments = true): Feedback {
  const key = pick(random, KEYS);
  const score = key === 'label' ? null : key === 'pass' ? random.below(2) : random.below(5) / 4;
  return {
    id: random.uuid(),
    key,
    score: random.oneIn(8) ? null : score,
    value: key === 'label' ? pick(random, LABELS) : null,
    comment: comments ? sometimes(random, 3, () => pick(random, COMMENTS)) : null,
    source: pick(random, SOURCES),
    created: someTime(random),
  };
}

function manyFeedback(random: Random): Feedback[] {
  return Array.from({ length: [0, 0, 1, 1, 2, 4][random.below(6)]! }, () => feedback(random));
}

function run(random: Random, session: string, above?: Run, more: Partial<Run> = {}): Run {
  const start = someTime(random);
  const end = random.oneIn(7) ? null : iso(micros(start) + pick(random, [0, 200_000, 1_500_000, 120 * SECOND, 1]));
  const id = random.uuid();
  return {
    id,
    session,
    name: pick(random, NAMES),
    type: pick(random, TYPES),
    start,
    end,
    error: sometimes(random, 5, () => pick(random, ERRORS)),
    inputs: members(random),
    outputs: random.oneIn(4) ? null : { ...members(random), ...(random.oneIn(3) && { usage_metadata: usage(random) }) },
    metadata: random.oneIn(4) ? null : metadata(random),
    tags: sometimes(random, 2, () => TAGS.filter(() => random.oneIn(2))),
    parent: above?.id ?? null,
    trace: above ? (above.trace ?? above.id) : null,
    below: above ? [...above.below, above.id] : [],
    writer: above ? above.writer : random.below(WRITERS.length),
    example: null,
    dataset: null,
    feedback: manyFeedback(random),
    ...more,
  };
}

/** A root run with some below it. */
function trace(random: Random, session: string): Run[] {
  const runs = [run(random, session)];
  for (let count = random.below(4); count > 0; count--) runs.push(run(random, session, pick(random, runs)));
  return runs;
}

function session(random: Random, name: string, uploaded: boolean, more: Partial<Session> = {}): Session {
  return {
    id: random.uuid(),
    name,
    description: sometimes(random, 2, () => `about ${name}`),
    start: iso(DAY - SECOND * (1 + random.below(3))),
    end: uploaded ? iso(DAY + 1000 * SECOND) : null,
    metadata: metadata(random),
    dataset: null,
    uploaded,
    runs: [],
    feedback: random.oneIn(2) ? [feedback(random)] : [],
    ...more,
  };
}

/** Runs of an upload: some rows, some of them twice, each with its number in its metadata. */
function uploadedRuns(random: Random, name: string): Run[] {
  const rows = Array.from({ length: ROWS }, (_, row) => row).filter(() => !random.oneIn(6));
  const repeated = rows.filter(() => random.oneIn(5));
  return [...rows, ...repeated].map((row, number) =>
    run(random, name, undefined, {
      row,
      // The inputs of a row are stored once, as they were sent first.
      writer: row % WRITERS.length,
      name: 'row',
      type: 'chain',
      end: iso(DAY + 10 * SECOND + random.below(4) * 500_000),
      start: iso(DAY + random.below(3) * SECOND + random.below(2)),
      inputs: { question: WORDS[row % WORDS.length]!, row },
      metadata: { ...metadata(random), number },
      tags: null,
    }),
  );
}

export function makeThings(seed: number): Things {
  const random = new Random(seed);
  const projects = ['project one', 'Project Two', 'empty_project'].map((name) => session(random, name, false));
  for (const project of projects.slice(0, 2)) {
    for (let traces = 30; traces > 0; traces--) project.runs.push(...trace(random, project.id));
  }
  const examples = Array.from({ length: 24 }, (): Example => {
    const splits = SPLITS.filter(() => random.oneIn(3));
    return {
      id: random.uuid(),
      writer: random.below(WRITERS.length),
      inputs: members(random),
      outputs: random.oneIn(4) ? null : members(random),
      metadata: metadata(random),
      splits,
      ...{ name: '', created: '', modified: '' },
    };
  });
  const experiments = ['sent one', 'sent two'].map((name) => session(random, name, false));
  for (const experiment of experiments) {
    for (const { id } of examples.filter(() => !random.oneIn(4))) {
      experiment.runs.push(run(random, experiment.id, undefined, { example: id }));
    }
  }
  const uploads = ['uploaded one', 'uploaded two', 'uploaded three'].map((name) => {
    const upload = session(random, name, true);
    upload.runs.push(...uploadedRuns(random, upload.id));
    return upload;
  });
  const empty = WORDS.slice(0, 12).map((word, nth) => session(random, `${word} ${nth % 3}`, false));
  return { dataset: '', projects, experiments, uploads, examples, empty };
}
