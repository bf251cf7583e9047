import { parseLossless } from '../../api/lossless';
import { firstTokenAt, linesOf, numberOf, textOf } from './run-facts';

it('reads texts and numbers, however they were written', () => {
  expect([textOf('a'), textOf(''), textOf(1)]).toEqual(['a', undefined, undefined]);
  const numbers = parseLossless('[1, "0.5", 1152921504606846976, "x", null, {}]') as unknown[];
  expect(numbers.map(numberOf)).toEqual([1, 0.5, 2 ** 60, undefined, undefined, undefined]);
});

it('finds the time of the first token', () => {
  const at = '2026-01-01T00:00:01Z';
  expect(firstTokenAt({ first_token_time: at })).toBe(at);
  const events = [
    'text',
    null,
    { name: 'start' },
    { name: 'new_token', time: at },
    { name: 'new_token', time: 'later' },
  ];
  expect(firstTokenAt({ events })).toBe(at);
  expect(firstTokenAt({ events: [{ name: 'new_token', time: 'soon' }] })).toBeUndefined();
  expect(firstTokenAt({})).toBeUndefined();
});

it('cuts an error into lines', () => {
  expect(linesOf('Error: a\r\n  at b\n\n')).toEqual(['Error: a', '  at b']);
  expect(linesOf('\n'.repeat(3000) + 'x')).toHaveLength(1001);
  expect(linesOf('x'.repeat(20_000))[0]).toHaveLength(10_000);
});
