export const SCORE_OPERATORS = ['>=', '<=', '>', '<', '='] as const;

/** A condition on the score of a feedback key. */
export interface ScoreBound {
  readonly key: string;
  readonly operator: (typeof SCORE_OPERATORS)[number];
  readonly bound: number;
}

const SCORE = /^(.+?)(>=|<=|>|<|=)(-?\d{1,15}(?:\.\d{1,15})?)$/s;
/** Form of the text of a score bound. */
export const SCORE_FORM = '<key><operator><number>, such as correct>0.8';

/** Returns the condition that a text says; undefined when it says none. */
export function scoreBound(text: string): ScoreBound | undefined {
  const [, key, operator, bound] = SCORE.exec(text) ?? [];
  const known = SCORE_OPERATORS.find((one) => one === operator);
  return known && { key: key!, operator: known, bound: Number(bound) };
}
