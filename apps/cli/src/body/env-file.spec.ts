import fc from 'fast-check';
import { envFile } from './env-file';

const read = (...lines: string[]) => envFile(lines.join('\n'), 'values.env');

describe('A file of secrets', () => {
  it.each([
    ['A=abc', 'abc'],
    ['A=abc#def', 'abc#def'],
    ['A=#def', '#def'],
    ['A=abc # a comment', 'abc'],
    ['A=abc\t# a comment', 'abc'],
    ['A= # a comment', ''],
    ['A=', ''],
    ['A=""', ''],
    ['A="abc # not a comment" # a comment', 'abc # not a comment'],
    ['A=\'single $x "q"\'', 'single $x "q"'],
    ['A=}9c$NcjV/(pA', '}9c$NcjV/(pA'],
    ['A="a$b${c}d"', 'a$b${c}d'],
    ['A=${B}/x', '${B}/x'],
    ['export A=yes', 'yes'],
    ['  A  =  padded  ', 'padded'],
    ['A=postgres://u:p=w@h/db?x=1&y=2', 'postgres://u:p=w@h/db?x=1&y=2'],
    ['A="one\\ntwo\\tthree\\\\n\\"four\\""', 'one\ntwo\tthree\\n"four"'],
    ["A='one\\ntwo'", 'one\\ntwo'],
    ['A=one\\ntwo', 'one\\ntwo'],
    ['A="C:\\Users"', 'C:\\Users'],
    ['A={"a": "b", "c": [1,2]}', '{"a": "b", "c": [1,2]}'],
    ['A=it\'s "quoted" inside', 'it\'s "quoted" inside'],
    ['A=`tick "and" \'quotes\'`', 'tick "and" \'quotes\''],
    ['A="-----BEGIN-----\r\nMII=\r\n-----END-----"\r', '-----BEGIN-----\nMII=\n-----END-----'],
    ['\ufeffA=grüße 🎈', 'grüße 🎈'],
    ['A=win\r\n', 'win'],
  ])('%j gives A the value %j', (text, value) => {
    expect(read(text)).toEqual({ A: value });
  });

  it('keeps the values of all lines', () => {
    expect(read('# first', '', 'A=1', 'B="x', 'y" # why', 'C=3', '')).toEqual({ A: '1', B: 'x\ny', C: '3' });
    expect(read('__proto__=1', 'constructor=2')).toEqual(
      Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    );
  });

  it.each([
    [['A=1', 'just text'], 'values.env, line 2: there is no ='],
    [['export A'], 'values.env, line 1: there is no ='],
    [['A=1', '', '=2'], 'values.env, line 3: the text before = is no name'],
    [['1A=2'], 'values.env, line 1: the text before = is no name'],
    [['A B=2'], 'values.env, line 1: the text before = is no name'],
    [['A=1', 'B="never closed', 'C=3'], 'values.env, line 2: the quote " of B is not closed'],
    [["A='x"], "values.env, line 1: the quote ' of A is not closed"],
    [['A="x\\"'], 'values.env, line 1: the quote " of A is not closed'],
    [['A="x"y'], 'values.env, line 1: there is text after the closing quote of A'],
    [['A="x"#y'], 'values.env, line 1: there is text after the closing quote of A'],
    [['A=1', 'B="two', 'lines"', 'A=2'], 'values.env, line 4: A has a value in line 1 already'],
  ])('%j is refused, and no value is in the message', (lines, message) => {
    expect(() => read(...lines)).toThrow(message);
    expect(() => read(...lines)).not.toThrow(/never closed|just text/);
  });

  it('gives back every text that is written between quotes', () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\r', ''));
    const quoted = (value: string) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (values) => {
        const lines = values.map((value, index) => `NAME_${index}=${quoted(value)}`);
        expect(Object.values(read(...lines))).toEqual(values);
      }),
    );
  });

  it('loses no text without quotes that has no space at its ends and no comment', () => {
    const value = fc
      .string({ unit: 'binary-ascii' })
      .filter((text) => !/[\r\n]|\s#|^["'`]/.test(text) && text === text.trim());
    fc.assert(fc.property(value, (text) => expect(read(`A=${text}`)).toEqual({ A: text })));
  });
});
