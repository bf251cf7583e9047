const TOKENS = /"((?:[^"\\]|\\.)*)\\?("?)(\s*:)?|[{}[\]]|,\s*|[^"{}[\],]+/g;

/** The beginning of JSON, which may end anywhere, as text without quotation marks, braces and escapes. */
export function flatText(json: string): string {
  let text = '';
  let first = true;
  for (const [token, quoted, , colon] of json.matchAll(TOKENS)) {
    if (quoted !== undefined) {
      // The name of a first member says nothing that the title of the column does not.
      if (colon !== undefined) text += first ? '' : `${unescaped(quoted)}: `;
      else text += unescaped(quoted);
      first = false;
    } else if (token.startsWith(',')) text += ', ';
    else if (!'{}[]'.includes(token)) text += token.trim();
  }
  return text.replaceAll(/\s+/g, ' ');
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text
      .replaceAll(/\\[nrt]/g, ' ')
      .replaceAll(/\\(.)/g, '$1')
      .replace(/\\$/, '');
  }
}
