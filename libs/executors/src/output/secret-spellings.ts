/** Shorter values are part of too many words, and no log could hide them. */
const SHORTEST = 4;
/** Longer values are looked for in the plainest encodings alone: their spellings would take much memory. */
const LONG = 4096;

interface Spelling {
  readonly text: string;
  /** 1 where the character before it, or after it, holds bits of the secret too. */
  readonly before?: 0 | 1;
  readonly after?: 0 | 1;
  /** Programs print it in lines of a fixed width. */
  readonly wraps?: true;
}

/** The ways in which programs print a secret: as it is, line by line, and escaped or encoded. */
export function spellings(value: string): Spelling[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/).map((line) => line.trim()) : [];
  const texts = [value, ...lines, ...escapes(value), ...(value.length <= LONG ? inUrls(value) : [])];
  const encoded = value.length < SHORTEST ? [] : [...hex(value), ...base64(value)];
  return [...texts.map((text) => ({ text })), ...encoded].filter(({ text }) => text.length >= SHORTEST);
}

/** As a part of JSON: as JavaScript, Python, Go and PHP write it, and JSON within JSON. */
function escapes(value: string): string[] {
  const inner = (text: string) => JSON.stringify(text).slice(1, -1);
  const plain = inner(value);
  if (value.length > LONG) return [plain];
  const escaped = (text: string, characters: RegExp) =>
    text.replace(characters, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const ascii = escaped(plain, /[\u007f-\uffff]/g);
  const forms = [plain, ascii, escaped(plain, /[<>&\u2028\u2029]/g), escaped(ascii, /[<>&]/g)];
  const slashed = [plain, ascii].map((text) => text.replaceAll('/', '\\/'));
  return [...forms, ...slashed, inner(plain), inner(ascii)];
}

function inUrls(value: string): string[] {
  // A lone surrogate has no encoding.
  const whole = Buffer.from(value).toString();
  const component = encodeURIComponent(whole);
  const strict = component.replace(/[!'()*]/g, percent);
  const slashes = [component, strict].map((text) => text.replaceAll('%2F', '/'));
  const form = new URLSearchParams({ v: whole }).toString().slice(2);
  const spaces = [component, strict, ...slashes].map((text) => text.replaceAll('%20', '+'));
  const all = [component, strict, ...slashes, ...spaces, form, encodeURI(whole), strict.replaceAll('~', '%7E')];
  return all.flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (one) => one.toLowerCase())]);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Digits in both cases, together and as dumps set them apart. */
function hex(value: string): Spelling[] {
  const digits = Buffer.from(value).toString('hex');
  const pairs = digits.match(/../g) ?? [];
  const apart = value.length > LONG ? [] : [pairs.join(' '), pairs.join(':'), pairs.join('-'), pairs.join('\\x')];
  const fours = value.length > LONG ? [] : [digits.match(/.{1,4}/g)!.join(' ')];
  return [digits, ...apart, ...fours].flatMap((text) =>
    [text, text.replace(/[a-f]/g, (one) => one.toUpperCase())].map((text) => ({ text, wraps: true as const })),
  );
}

/**
 * The characters that every Base64 of a text with the secret in it holds: three, for the three places at which the secret
 * can begin in a group of three bytes, in both alphabets and as URLs hold them.
 */
function base64(value: string): Spelling[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const after = whole.length % 3 === 0 ? 0 : 1;
    // Characters that are made of bits of the secret and bits of what stands beside it are not always the same.
    const characters = whole.toString('base64').replace(/=+$/, '');
    const core = characters.slice(before === 0 ? 0 : before + 1, characters.length - after);
    const url = core.replaceAll('+', '-').replaceAll('/', '_');
    const texts = [core, url, core.replaceAll('+', '%2B').replaceAll('/', '%2F'), core.replaceAll('/', '\\/')];
    return texts.map((text) => ({ text, before: before === 0 ? 0 : 1, after, wraps: true }) as const);
  });
}
