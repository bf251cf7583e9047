import { useSyncExternalStore } from 'react';

interface Question {
  readonly title: string;
  readonly text: string;
  /** Labels of the answers by their names. Escape gives the first one, which keeps everything as it is. */
  readonly answers: Readonly<Record<string, string>>;
  /** True when the last answer loses something. */
  readonly danger?: boolean;
}

export interface Asked extends Question {
  readonly id: number;
  readonly give: (answer: string) => void;
}

let count = 0;
let asked: readonly Asked[] = [];
const listeners = new Set<() => void>();

/** Asks the person in front of the page, above all else; the answer is one of the names. */
export function ask<A extends string>(question: Question & { answers: Readonly<Record<A, string>> }): Promise<A> {
  return new Promise((resolve) => {
    const one: Asked = {
      ...question,
      id: ++count,
      give(answer) {
        change(asked.filter((other) => other !== one));
        resolve(answer as A);
      },
    };
    change([...asked, one]);
  });
}

/** The question that waits longest. */
export function useAsked(): Asked | undefined {
  return useSyncExternalStore(listen, () => asked[0]);
}

function change(next: readonly Asked[]): void {
  asked = next;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
