import { type Agent, AGENTS } from './agents';
import { chance, identifier } from './chance';
import { conversations } from './conversations';
import { answered } from './answered';
import { MARK } from './mark';
import { type Question, QUESTIONS } from './questions';
import type { Trace } from './runs';

const DAY = 24 * 60 * 60 * 1000;

/** Beginning of a story: the dataset, whose id is another one each time the demo is made. */
export interface Seed {
  readonly dataset: string;
  /** Milliseconds since 1970; the story ends then. */
  readonly until: number;
}

interface Example {
  readonly id: string;
  readonly dataset_id: string;
  readonly inputs: { readonly topic: string; readonly question: string };
  readonly outputs: { readonly answer: string };
  readonly metadata: object;
  readonly split: readonly string[];
}

/** An experiment with the traces of its rows, repetitions included. */
export interface Experiment {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly metadata: object;
  readonly traces: readonly Trace[];
}

/** The story of the demo. The same seed makes the same story. */
export interface Story {
  readonly examples: readonly Example[];
  /** The baseline first. */
  readonly experiments: readonly Experiment[];
  /** Conversations of customers with what is deployed. */
  readonly conversations: readonly Trace[];
}

export function storyOf(seed: Seed): Story {
  return {
    examples: QUESTIONS.map((question) => exampleOf(seed, question)),
    experiments: AGENTS.map((agent, index) => experimentOf(seed, agent, index)),
    conversations: conversations(seed.dataset, seed.until - DAY, DAY),
  };
}

/** The id of the example of a question. */
function exampleId(seed: Seed, number: number): string {
  return identifier(seed.dataset, 'example', number);
}

function exampleOf(seed: Seed, { number, topic, ask, reference }: Question): Example {
  const isHard = chance('hard', number) < 0.2;
  return {
    id: exampleId(seed, number),
    dataset_id: seed.dataset,
    inputs: { topic: topic.name, question: ask },
    outputs: { answer: reference },
    metadata: { ...MARK, topic: topic.name, tags: [isHard ? 'hard' : 'usual', topic.tool] },
    split: [topic.name, ...(isHard ? ['hard'] : [])],
  };
}

/** Each experiment is half a day after the one before. */
function experimentOf(seed: Seed, agent: Agent, index: number): Experiment {
  const start = seed.until - 3 * DAY + (index * DAY) / 2;
  const traces: Trace[] = [];
  for (const question of QUESTIONS) {
    const repetitions = agent.searches && question.number % 30 < 4 ? 3 : 1;
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const id = identifier(seed.dataset, agent.name, question.number, repetition);
      const at = start + traces.length * 1500;
      traces.push(answered(agent, question, { id, at, repetition, example: exampleId(seed, question.number) }));
    }
  }
  return {
    id: identifier(seed.dataset, agent.name),
    name: agent.name,
    description: agent.about,
    start_time: new Date(start).toISOString(),
    end_time: new Date(start + traces.length * 1500 + 20_000).toISOString(),
    metadata: { ...MARK, model: agent.model, prompt: agent.promptVersion, web_search: agent.searches === true },
    traces,
  };
}
