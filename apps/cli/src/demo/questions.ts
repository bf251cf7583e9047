import { MONEY } from './topics/money';
import { ORDERS } from './topics/orders';
import { SERVICE } from './topics/service';
import type { Case, Topic } from './topics/topic';

/** A question of a customer, with what a correct answer has to say. */
export interface Question extends Case {
  /** Place among all questions, from 0. */
  readonly number: number;
  readonly topic: Topic;
  readonly thing: string;
}

export const TOPICS: readonly Topic[] = [...ORDERS, ...MONEY, ...SERVICE];

/** Three hundred questions: each of ten topics has six, about five things each. */
export const QUESTIONS: readonly Question[] = TOPICS.flatMap((topic) =>
  topic.things.flatMap((thing) => topic.cases.map((one) => ({ ...one, ask: about(one.ask, thing), topic, thing }))),
).map((question, number) => ({ ...question, number }));

function about(ask: string, thing: string): string {
  const text = ask.replace('{x}', thing);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
