import { chance } from './chance';
import type { Question } from './questions';

/** The topic in which the new prompt is worse: it still has the old policy. */
export const WORSE_TOPIC = 'Returns and refunds';

/** An agent of the story, as one of its experiments runs it. */
export interface Agent {
  readonly name: string;
  readonly about: string;
  readonly model: string;
  readonly prompt: string;
  readonly promptVersion: string;
  /** US dollars for a million tokens, read and written. */
  readonly prices: readonly [number, number];
  /** Milliseconds that an answer usually takes. */
  readonly takes: number;
  /** True when it answers a question wrongly, the first time that it is asked. */
  readonly errs: (question: Question) => boolean;
  /** The answer in this agent's manner. */
  readonly says: (text: string) => string;
  /** True when it searches the web, which may fail, and is asked some questions several times. */
  readonly searches?: boolean;
}

const HOUSE = 'You answer customers of Harbour & Pine, a shop for furniture and things for the home.';

const baselineErrs = ({ number, topic }: Question) =>
  chance('baseline', number) < (topic.name === WORSE_TOPIC ? 0.1 : 0.32);

/** Changes what the baseline gets wrong: some of it is right now, and some of the rest is wrong. */
const changed = (name: string, kept: number, broken: number) => (question: Question) =>
  chance(name, question.number) < (baselineErrs(question) ? kept : broken);

export const BASELINE: Agent = {
  name: 'demo-baseline',
  about: 'The agent as it is in production.',
  model: 'large-2',
  promptVersion: 'v1',
  prompt: `${HOUSE} Use the articles of the help centre. Be polite.`,
  prices: [2.5, 10],
  takes: 2300,
  errs: baselineErrs,
  says: (text) => `Thank you for your message. ${text}`,
};

export const NEW_PROMPT: Agent = {
  ...BASELINE,
  name: 'demo-new-prompt',
  about: 'The same model with a prompt that names the policies. Better on the whole; look at returns and refunds.',
  promptVersion: 'v3',
  prompt: `${HOUSE} Use the articles of the help centre. Answer the question first, in two sentences. Our policies: express takes two working days; returns within 14 days, label 4.90; warranty two years; no fees.`,
  takes: 2600,
  errs: (question) =>
    question.topic.name === WORSE_TOPIC
      ? chance('new prompt', question.number) < 0.55
      : changed('new prompt', 0.35, 0.02)(question),
  says: (text) => text,
};

export const SMALL_MODEL: Agent = {
  ...BASELINE,
  name: 'demo-small-model',
  about: 'A small model with the prompt of the baseline, at a fraction of its cost.',
  model: 'small-2',
  prices: [0.15, 0.6],
  takes: 1100,
  errs: changed('small', 0.84, 0.08),
  says: (text) => `Hello! ${text}`,
};

export const WEB_SEARCH: Agent = {
  ...BASELINE,
  name: 'demo-web-search',
  about: 'The baseline with a web search, which sometimes does not answer. Forty questions were asked three times.',
  promptVersion: 'v1, search',
  prompt: `${HOUSE} Use the articles of the help centre, and search the web where they say nothing. Name your source.`,
  takes: 4700,
  errs: changed('search', 0.7, 0.06),
  says: (text) => `${text} (Source: help centre.)`,
  searches: true,
};

export const AGENTS: readonly Agent[] = [BASELINE, NEW_PROMPT, SMALL_MODEL, WEB_SEARCH];
