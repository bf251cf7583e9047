import { AGENTS, BASELINE, NEW_PROMPT, SMALL_MODEL, WEB_SEARCH, WORSE_TOPIC } from './agents';
import { identifier } from './chance';
import { isMarked } from './look';
import { QUESTIONS, TOPICS } from './questions';
import { storyOf } from './story';

const story = storyOf({ dataset: 'a dataset', until: Date.UTC(2026, 0, 31) });
const traces = [...story.experiments.flatMap(({ traces }) => traces), ...story.conversations];

/** The scores of an experiment, by the number of the question. */
function scores(name: string, key: string): number[][] {
  const { traces } = story.experiments.find((one) => one.name === name)!;
  const byQuestion = QUESTIONS.map((): number[] => []);
  const places = new Map(story.examples.map(({ id }, number) => [id, number]));
  for (const { runs, feedback } of traces) {
    const [root] = runs;
    const given = feedback.find((one) => one.key === key);
    if (given) byQuestion[places.get(root!.reference_example_id as string)!]!.push(given.score);
  }
  return byQuestion;
}

it('asks three hundred different questions in ten topics, each with a reference', () => {
  expect(new Set(QUESTIONS.map(({ ask }) => ask)).size).toBe(300);
  expect(new Set(TOPICS.map(({ name }) => name)).size).toBe(10);
  for (const { name } of TOPICS) expect(QUESTIONS.filter(({ topic }) => topic.name === name)).toHaveLength(30);
  for (const { ask, reference, right, wrong, fault } of QUESTIONS) {
    expect(ask).toMatch(/^[A-Z][^{}]*[.?]$/);
    for (const text of [reference, right, wrong, fault]) expect(text).toMatch(/^[A-Z“][^{}]*[.]$/);
    expect(new Set([reference, right, wrong]).size).toBe(3);
  }
});

it('is the same for the same seed, and has ids of its own for another one', () => {
  const again = storyOf({ dataset: 'a dataset', until: Date.UTC(2026, 0, 31) });
  expect(JSON.stringify(again) === JSON.stringify(story)).toBe(true);
  const ids = traces.flatMap(({ runs, feedback }) => [...runs, ...feedback].map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  const others = new Set(storyOf({ dataset: 'another one', until: 0 }).examples.map(({ id }) => id));
  expect(story.examples.filter(({ id }) => others.has(id))).toEqual([]);
  expect(identifier('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('marks everything', () => {
  const runs = traces.flatMap((one) => one.runs);
  expect([...story.examples, ...story.experiments, ...runs].filter((one) => !isMarked(one))).toEqual([]);
});

it('has runs below one root, within its time, before the story ends', () => {
  for (const { runs } of traces) {
    const [root, ...below] = runs;
    const { id, start_time, end_time } = root!;
    const isBelow = (run: (typeof below)[number]) => run.parent_run_id === id && run.trace_id === id;
    expect(below.every(isBelow) && root!.trace_id === id).toBe(true);
    const isWithin = (run: typeof root) => start_time <= run!.start_time && run!.start_time <= run!.end_time;
    expect(runs.every((run) => isWithin(run) && run.end_time <= end_time)).toBe(true);
    expect(Date.parse(end_time) < Date.UTC(2026, 0, 31)).toBe(true);
  }
});

it('has an experiment that fails now and then, and asks forty questions three times', () => {
  const { traces } = story.experiments.find(({ name }) => name === WEB_SEARCH.name)!;
  expect(traces).toHaveLength(380);
  const failed = traces.filter(({ runs }) => runs[0]!.error !== undefined).length;
  expect(failed).toBeGreaterThan(15);
  expect(failed).toBeLessThan(45);
  expect(scores(WEB_SEARCH.name, 'correct').some((own) => new Set(own).size === 2)).toBe(true);
  for (const { name } of AGENTS.slice(0, 3))
    expect(scores(name, 'correct').every((own) => own.length === 1)).toBe(true);
});

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const flat = (name: string, key: string) => scores(name, key).map(([first]) => first!);

it('has a prompt that is better in every topic but one', () => {
  const [before, after] = [BASELINE, NEW_PROMPT].map(({ name }) => flat(name, 'correct'));
  const differences = TOPICS.map(({ name }) => {
    const own = QUESTIONS.filter(({ topic }) => topic.name === name).map(({ number }) => number);
    return [name, sum(own.map((at) => after![at]! - before![at]!))] as const;
  });
  for (const [name, difference] of differences) {
    if (name === WORSE_TOPIC) expect(difference).toBeLessThan(-9);
    else expect([name, difference > 0]).toEqual([name, true]);
  }
  expect((sum(after!) - sum(before!)) / 300).toBeGreaterThan(0.07);
});

it('has a model that costs less than a tenth and is about as right', () => {
  const costs = [BASELINE, SMALL_MODEL].map(({ name }) => sum(flat(name, 'cost')));
  expect(costs[1]! / costs[0]!).toBeLessThan(0.1);
  const right = [BASELINE, SMALL_MODEL].map(({ name }) => sum(flat(name, 'correct')));
  expect(Math.abs(right[1]! - right[0]!) / 300).toBeLessThan(0.04);
});
