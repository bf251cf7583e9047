import { Usage } from '../failure';

const NAME = /^[A-Za-z_]\w*$/;
const QUOTES = ['"', "'", '`'];
/** Characters after a backslash within double quotes that do not stand for themselves. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };

/**
 * Reads lines of `NAME=value`. A value may be quoted with `"`, `'` or a backtick and then reach over several lines;
 * `\n`, `\r`, `\t`, `\"` and `\\` are escapes within double quotes only. Spaces around a value without quotes are
 * removed. `#` begins a comment at the beginning of a line and after a space. `$` has no meaning.
 * @param shown name of the file in errors, which never hold a value
 * @throws Usage for a line without `=`, a name that no environment variable can have, a quote that is not closed, text
 * after a closing quote, and a name that comes twice; each with the number of the line
 */
export function envFile(text: string, shown: string): Record<string, string> {
  const values = new Map<string, { readonly value: string; readonly line: number }>();
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length;) {
    const line = index + 1;
    const wrong = (reason: string) => new Usage(`${shown}, line ${line}: ${reason}`);
    const content = lines[index]!.trim();
    if (content === '' || content.startsWith('#')) {
      index += 1;
      continue;
    }
    const equals = content.indexOf('=');
    if (equals < 0) throw wrong('there is no = in this line. Write NAME=value; # begins a comment.');
    const name = content
      .slice(0, equals)
      .replace(/^export\s+/, '')
      .trim();
    if (!NAME.test(name)) {
      throw wrong('the text before = is no name. Names have letters, digits and _, and do not begin with a digit.');
    }
    const first = values.get(name);
    if (first) throw wrong(`${name} has a value in line ${first.line} already.`);
    const start = content.slice(equals + 1).trimStart();
    if (!QUOTES.includes(start[0]!)) {
      values.set(name, { value: unquoted(content.slice(equals + 1)), line });
      index += 1;
      continue;
    }
    const quoted = [start, ...lines.slice(index + 1)].join('\n');
    const { value, end } = quotedValue(quoted, () => wrong(`the quote ${start[0]} of ${name} is not closed.`));
    const [rest = ''] = quoted.slice(end).split('\n', 1);
    if (!/^\s*$|^\s+#/.test(rest)) {
      throw wrong(`there is text after the closing quote of ${name}. Put the whole value between quotes.`);
    }
    values.set(name, { value, line });
    index += quoted.slice(0, end).split('\n').length;
  }
  return Object.fromEntries([...values].map(([name, { value }]) => [name, value]));
}

function unquoted(text: string): string {
  const comment = text.search(/\s#/);
  return (comment < 0 ? text : text.slice(0, comment)).trim();
}

/** The value that begins with its quote at the beginning of `text`, and the place behind its closing quote. */
function quotedValue(text: string, unclosed: () => Usage): { readonly value: string; readonly end: number } {
  const quote = text[0]!;
  let value = '';
  for (let at = 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === quote) return { value, end: at + 1 };
    const escape = quote === '"' && character === '\\' ? ESCAPES[text[at + 1]!] : undefined;
    if (escape !== undefined) at += 1;
    value += escape ?? character;
  }
  throw unclosed();
}
