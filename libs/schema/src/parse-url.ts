/**
 * The URL that a text is, or undefined. Not by `URL.canParse`: in Node 20 that refuses `https://münchen.example` once it
 * has been called a few thousand times.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
