/** What is wrong with a value, as the rest of a sentence that begins with the variable's name. */
export class Mistake {
  constructor(readonly text: string) {}
}

/** The value of a variable: `fallback` when it is not set, or when `parse` finds a mistake, which is noted. */
export type Read = <T>(name: string, fallback: T, parse: (text: string) => T | Mistake) => T;

export function oneOf<T extends string>(values: readonly T[]): (text: string) => T | Mistake {
  return (text) => {
    const value = values.find((known) => known === text.toLowerCase());
    return value ?? new Mistake(`must be ${values.join(', ')} or unset, not ${JSON.stringify(text)}`);
  };
}
