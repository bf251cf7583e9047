import { parseUrl } from './parse-url';
import { INVALID, type Schema } from './schema';
import { str } from './text';

const SCHEMES = "'http' or 'https'";
/**
 * An absolute URL as people write it: what parsers would mend is refused. Its parts cannot begin with the same character:
 * otherwise a long text would be read again from each of its characters.
 */
const ABSOLUTE = /^https?:\/\/[^/?#\\\s]+(?:[/?#][^\\\s\p{Cc}\p{Cf}]*)?$/iu;

/** The text of an absolute URL whose scheme is http or https; it stays as it was sent. */
export function webUrl(rules: { readonly min?: number; readonly max?: number } = {}): Schema<string> {
  const text = str(rules);
  return {
    ...text,
    label: 'url',
    json: { ...text.json, format: 'uri' },
    parse(input, context) {
      const value = text.parse(input, context);
      if (value === INVALID) return value;
      const url = parseUrl(value);
      if (url && url.protocol !== 'http:' && url.protocol !== 'https:') {
        const msg = `URL scheme should be ${SCHEMES}`;
        return context.fail('url_scheme', msg, input, { expected_schemes: SCHEMES });
      }
      if (url && ABSOLUTE.test(value)) return value;
      const error = faultOf(value);
      return context.fail('url_parsing', `Input should be a valid URL, ${error}`, input, { error });
    },
  };
}

function faultOf(text: string): string {
  if (text === '') return 'input is empty';
  return /^[a-z][a-z\d+.-]*:/i.test(text) ? 'invalid host or character' : 'relative URL without a base';
}
