/**
 * Parses a URL; undefined when the text is none. `URL.canParse` is not used, because in Node 20 it refuses
 * `https://münchen.example` after a few thousand calls.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
