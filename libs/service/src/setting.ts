/** A mistake in a value, as the rest of a sentence that begins with the name of the variable. */
export class Mistake {
  constructor(readonly text: string) {}
}

/** Returns the value of a variable, or `fallback` when it is unset or `parse` finds a mistake, which is recorded. */
export type Read = <T>(name: string, fallback: T, parse: (text: string) => T | Mistake) => T;

export function oneOf<T extends string>(values: readonly T[]): (text: string) => T | Mistake {
  return (text) => {
    const value = values.find((known) => known === text.toLowerCase());
    return value ?? new Mistake(`must be ${values.join(', ')} or unset, not ${JSON.stringify(text)}`);
  };
}

/** Turns a parser that throws the rest of a sentence into one that returns a Mistake. */
export function orMistake<T>(parse: (text: string) => T): (text: string) => T | Mistake {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      return new Mistake((error as Error).message);
    }
  };
}
