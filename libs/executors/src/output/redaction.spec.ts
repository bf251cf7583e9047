import fc from 'fast-check';
import { LogLines, LONGEST_LINE } from './log-lines';
import { REDACTED, Redaction } from './redaction';

const SECRET = 'p4ss/w0rd+with "quotes" <&> ü~!*';
const shown = (text: string, ...secrets: string[]) => new Redaction(secrets).apply(text);
const bytes = Buffer.from(SECRET);
const hex = bytes.toString('hex');
const dump = hex.match(/../g)!;

describe('a redaction hides a secret', () => {
  const percent = (text: string) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
  it.each<[string, string]>([
    ['as it is', SECRET],
    ['in hex', hex],
    ['in upper case hex', hex.toUpperCase()],
    ['in hex with spaces', dump.join(' ')],
    ['in hex with colons', dump.join(':').toUpperCase()],
    ['as bytes of a shell', `\\x${dump.join('\\x')}`],
    ['in Base64', bytes.toString('base64')],
    ['in Base64 for URLs', bytes.toString('base64url')],
    ['in Base64 in a URL', encodeURIComponent(bytes.toString('base64'))],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in a URL, with small letters', encodeURIComponent(SECRET).replace(/%../g, (one) => one.toLowerCase())],
    ['in a URL, with all that RFC 3986 reserves', encodeURIComponent(SECRET).replace(/[!'()*]/g, percent)],
    ['in a URL, with its slashes', encodeURIComponent(SECRET).replaceAll('%2F', '/')],
    ['in a form', new URLSearchParams({ v: SECRET }).toString().slice(2)],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['in JSON of ASCII', JSON.stringify(SECRET).slice(1, -1).replace('ü', '\\u00fc')],
    ['in JSON for HTML', JSON.stringify(SECRET).slice(1, -1).replace('<&>', '\\u003c\\u0026\\u003e')],
    ['in JSON with escaped slashes', JSON.stringify(SECRET).slice(1, -1).replace('/', '\\/')],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
  ])('%s', (_, encoded) => {
    expect(shown(`before ${encoded} after`, SECRET)).toMatch(/^before (\\x)?\[redacted\](%3D)* after$/);
  });

  it.each([...'0123456'].map(Number))('inside Base64 after %i other bytes, whatever follows', (before) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      for (const after of [0, 1, 2, 3]) {
        const whole = Buffer.concat([Buffer.alloc(before, 'a'), bytes, Buffer.alloc(after, 'z')]).toString(encoding);
        const [left, right, ...more] = shown(`=${whole};`, SECRET).split(REDACTED);
        expect(more).toEqual([]);
        // What is left is made of the other bytes alone.
        expect(whole.startsWith(left!.slice(1))).toBe(true);
        expect(left!.length - 1).toBeLessThanOrEqual(Math.floor((before * 8) / 6));
        expect(whole.endsWith(right!.slice(0, -1))).toBe(true);
        expect(right!.replace(/=*;$/, '').length).toBeLessThanOrEqual(Math.ceil((after * 8) / 6));
      }
    }
  });

  it('that a program wraps into lines, in hex and in Base64', () => {
    const long = Array.from({ length: 30 }, (_, n) => `part-${n};`).join('');
    const redaction = new Redaction([long]);
    for (const [encoded, width] of [
      [Buffer.from(long).toString('base64'), 76],
      [Buffer.from(`user:${long}`).toString('base64'), 64],
      [Buffer.from(long).toString('hex'), 60],
      [Buffer.from(long).toString('hex').match(/../g)!.join(' '), 47],
    ] as const) {
      const lines = encoded.match(new RegExp(`.{1,${width}}`, 'g'))!;
      expect(lines.length).toBeGreaterThan(3);
      for (const line of lines.slice(1, -1)) expect(redaction.apply(`  ${line.trim()}\t`)).toBe(`  ${REDACTED}\t`);
      expect(redaction.apply(lines[0]).replace(REDACTED, '').length).toBeLessThan(8);
    }
  });

  it('of any kind, in any encoding, wherever the output is cut into chunks', () => {
    const encoders: ((text: string) => string)[] = [
      (text) => text,
      (text) => Buffer.from(text).toString('hex'),
      (text) => Buffer.from(text).toString('base64'),
      (text) => Buffer.from(text).toString('base64url'),
      (text) => encodeURIComponent(text),
      (text) => JSON.stringify(text).slice(1, -1),
    ];
    const secret = fc.string({ unit: 'binary', minLength: 8, maxLength: 60 }).filter((text) => {
      // A line break ends a line; what is cleaned away cannot be found again.
      return !['\r', '\n', '\0', '\u001b', '\ufffd'].some((one) => text.includes(one)) && text.trim().length >= 8;
    });
    fc.assert(
      fc.property(
        secret,
        fc.constantFrom(...encoders),
        fc.array(fc.nat(400), { maxLength: 6 }),
        fc.nat({ max: 20 }).map((n) => LONGEST_LINE - 10 + n),
        fc.boolean(),
        (value, encode, cuts, filler, isFar) => {
          const encoded = encode(value);
          const text = `${'.'.repeat(isFar ? filler : 3)} ${encoded} end\n`;
          const lines = new LogLines(new Redaction([value]));
          const told: string[] = [];
          let at = 0;
          for (const cut of [...cuts.map((n) => n + (isFar ? filler : 0)), text.length].sort((a, b) => a - b)) {
            told.push(...lines.push(text.slice(at, Math.max(at, cut))));
            at = Math.max(at, cut);
          }
          told.push(...lines.end());
          expect(told.join('')).toMatch(/^\.+ \[redacted\]={0,2} end$/);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('that a program colours, or interrupts with what no log shows', () => {
    const lines = new LogLines(new Redaction(['a-secret-value']));
    const told = lines.push('x a-sec\u001b[31mret-va\0lue y\nz a-secret\u001b\0[0m-value\n');
    expect(told).toEqual([`x ${REDACTED} y`, `z ${REDACTED}`]);
  });
});

it('leaves everything else as it is', () => {
  const text = `commit ${'0123456789abcdef'.repeat(2)} of dGhpcyBpcyBubyBzZWNyZXQ= https://example.com/a%20b`;
  expect(shown(text, SECRET, 'abc', '')).toBe(text);
});

it('finds thousands of secrets in a long log without a delay for each', () => {
  const secrets = Array.from({ length: 1000 }, (_, n) => `secret-number-${n}-${(n * 7919).toString(36)}`);
  const redaction = new Redaction(secrets);
  const line = `${'x'.repeat(200)} ${Buffer.from(secrets[500]!).toString('base64')} ${'y'.repeat(200)}`;
  const before = process.cpuUsage();
  const shown = Array.from({ length: 500 }, () => redaction.apply(line));
  // Looking for each in turn takes a minute.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  expect(shown.filter((text) => !text.includes(REDACTED))).toEqual([]);
});
