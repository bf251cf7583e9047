import type { Schema } from './schema';

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HYPHENATED = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const FORMS = new RegExp(`^(?:([0-9a-fA-F]{32})|(?:urn:uuid:)?(${HYPHENATED})|\\{(${HYPHENATED})\\})$`);
const GROUPS = [8, 4, 4, 4, 12];
const GROUP_STARTS = [0, 9, 14, 19, 24];
const URN = 'urn:uuid:';

/**
 * Returns the schema of a UUID in its simple, hyphenated, braced or URN form. Its value is hyphenated and in lower
 * case.
 */
export function uuid(): Schema<string> {
  return {
    label: 'uuid',
    json: { type: 'string', format: 'uuid' },
    exact: (input) => typeof input === 'string' && CANONICAL.test(input),
    parse(input, context) {
      if (typeof input !== 'string') {
        return context.fail('uuid_type', 'UUID input should be a string, bytes or UUID object', input);
      }
      const value = canonicalUuid(input);
      if (value !== undefined) return value;
      const error = explainUuid(input);
      return context.fail('uuid_parsing', `Input should be a valid UUID, ${error}`, input, { error });
    },
  };
}

/** Returns the hyphenated form in lower case; undefined when the text is no UUID. */
export function canonicalUuid(text: string): string | undefined {
  if (CANONICAL.test(text)) return text;
  const match = FORMS.exec(text);
  if (match === null) return undefined;
  if (match[1] !== undefined)
    return match[1].toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return (match[2] ?? match[3] ?? '').toLowerCase();
}

/** Returns why a text is no UUID, in the words of the Rust crate that pydantic uses. */
function explainUuid(text: string): string {
  // The crate unwraps a text of the right length first and then forgets the wrapping.
  if (text.length === 38 && isBraced(text)) return explainUuid(text.slice(1, -1));
  if (text.length === 45 && text.startsWith(URN)) return explainUuid(text.slice(URN.length));
  const braced = isBraced(text);
  const offset = braced ? 1 : text.startsWith(URN) ? URN.length : 0;
  const hyphens: number[] = [];
  let index = 0;
  for (const character of braced ? text.slice(1, -1) : text.slice(offset)) {
    if (character === '-') hyphens.push(index);
    else if (!/^[0-9a-fA-F]$/.test(character)) {
      return `invalid character: found \`${character}\` at ${index + offset + 1}`;
    }
    index++;
  }
  if (hyphens.length === 0 && offset === 0) {
    return `invalid length: expected length 32 for simple format, found ${text.length}`;
  }
  if (hyphens.length !== 4) return `invalid group count: expected 5, found ${hyphens.length + 1}`;
  const wrong = hyphens.findIndex((hyphen, group) => hyphen !== (GROUP_STARTS[group + 1] ?? 0) - 1);
  const group = wrong < 0 ? 4 : wrong;
  const found = (hyphens[group] ?? text.length) - (GROUP_STARTS[group] ?? 0);
  return `invalid group length in group ${group}: expected ${GROUPS[group]}, found ${found}`;
}

function isBraced(text: string): boolean {
  return text.length > 1 && text.startsWith('{') && text.endsWith('}');
}
