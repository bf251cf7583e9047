import { parseLossless, printLossless, SourceNumber } from '../../api/lossless';
import { firstDifference, lines, members, words } from './difference';

it('marks the words that differ', () => {
  expect(words('the quick fox', 'the slow fox')).toEqual([
    { kind: 'same', text: 'the ' },
    { kind: 'removed', text: 'quick' },
    { kind: 'added', text: 'slow' },
    { kind: 'same', text: ' fox' },
  ]);
  expect(words('a'.repeat(30_000), 'b'.repeat(30_000))).toBeUndefined();
});

it('marks the lines that differ', () => {
  expect(lines('same\nwas\n', 'same\nis\n')).toEqual([
    { kind: 'same', text: 'same\n' },
    { kind: 'removed', text: 'was\n' },
    { kind: 'added', text: 'is\n' },
  ]);
});

it('tells the members that differ by their paths', () => {
  const before = parseLossless(
    '{"a": 1, "steps": [{"ms": 330}], "gone": true, "big": 9007199254740993, "__proto__": 1}',
  );
  const after = parseLossless('{"a": 1, "steps": [{"ms": 132}], "new": null, "big": 9007199254740992, "__proto__": 1}');
  const { changed, same } = members(before, after);
  expect(changed).toEqual([
    { path: 'steps[0].ms', before: 330, after: 132 },
    { path: 'gone', before: true, after: undefined },
    { path: 'big', before: new SourceNumber('9007199254740993'), after: new SourceNumber('9007199254740992') },
    { path: 'new', before: undefined, after: null },
  ]);
  expect(same).toBe(2);
});

it('keeps numbers as they were written', () => {
  const text = '{"id": 9007199254740993, "share": 0.1, "small": 1e-7}';
  expect(JSON.parse(printLossless(parseLossless('{"share": 0.1, "list": [1, "x"]}')))).toEqual({
    share: 0.1,
    list: [1, 'x'],
  });
  expect(printLossless(parseLossless(text))).toContain('9007199254740993');
});

it('finds where a text begins to differ', () => {
  expect(firstDifference('same', 'same')).toBeUndefined();
  expect(firstDifference('one', 'two')).toBe(0);
  const text = 'a long beginning that both have, then another end';
  const at = firstDifference(text, 'a long beginning that both have, then this end')!;
  expect(text.slice(at)).toBe('have, then another end');
});
