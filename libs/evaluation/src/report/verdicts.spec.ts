import { escaped } from './verdicts';

/** A sign that is not shown, which keeps code hosts from finding what stands around it. */
const apart = (text: string) => text.replaceAll('·', '\u200b');

it.each([
  ['ask @octocat or @team/all', 'ask @·octocat or @·team/all'],
  ['closes #12, !7, ~"bug" and &3', 'closes \\#·12, !·7, \\~·"bug" and &amp;·3'],
  ['GH-12 and [vulnerability:7]', 'GH·-12 and \\[·vulnerability:7\\]'],
  ['see https://evil.example/?a=1', 'see https:·//evil.example/?a=1'],
  ['see www.evil.example, mailto:a@b.example', 'see www·.evil.example, mailto·:a@·b.example'],
  ['[here](https://evil.example)', '\\[here\\](https:·//evil.example)'],
  ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
  ['<!-- a --> &#64;octocat', '&lt;!-- a --&gt; &amp;\\#·64;octocat'],
  ['```\n/close\n# Title\n- [ ] done', '\\`\\`\\` /close \\# Title - \\[ \\] done'],
  ['a | b \\| c ~~d~~ $e$ __f__', 'a \\| b \\\\\\| c \\~\\~·d\\~\\~ \\$·e\\$ \\_\\_f\\_\\_'],
  ['abc\u202edef\u0007\u2066g', 'abcdefg'],
])('a text of somebody else is only a text: %j', (text, expected) => {
  expect(escaped(text)).toBe(apart(expected));
});

it('leaves numbers and signs of a report as they are', () => {
  expect(escaped('50 % (0 % → 50 %, 6 rows); −0.4 & 3')).toBe('50 % (0 % → 50 %, 6 rows); −0.4 &amp; 3');
});
