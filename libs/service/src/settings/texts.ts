import { type Schema, setting } from '@fairlead/schema';

export const MOST_SECONDS = 10 * 365 * 24 * 3600;

export const anyText = setting((text) => text);

/** A text that fits; `wrong` is the rest of a sentence about another one. */
export function matching(pattern: RegExp, wrong: string): Schema<string> {
  return setting((text) => {
    if (pattern.test(text)) return text;
    throw new Error(wrong);
  });
}

/** A URL that fits; `wrong` is the rest of a sentence about another one. */
export function urlThat(fits: (url: URL) => boolean, wrong: string): Schema<string> {
  return setting((text) => {
    if (URL.canParse(text) && fits(new URL(text))) return text;
    throw new Error(wrong);
  });
}

/** A secret that a header can carry. */
export function secretWord(least: number): Schema<string> {
  return setting((text) => {
    if (text.length < least || text.length > 256) throw new Error(`must have ${least} to 256 characters`);
    if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('must hold only visible ASCII characters and no spaces');
    return text;
  });
}

/** Returns the code of an error of the operating system, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
