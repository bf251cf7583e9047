import { binned, countsOf } from './log-counts';

const at = (minute: number) => Date.UTC(2026, 0, 1, 12, minute);

it('counts lines and errors in equal parts of the time', () => {
  const lines = [
    { at: at(0), level: 'INFO' },
    { at: at(1), level: 'WARNING' },
    { at: at(5), level: 'ERROR' },
    { at: at(10), level: 'CRITICAL' },
  ] as const;
  expect(countsOf(binned(lines, 5), at(0), at(10), 5)).toEqual({
    from: '2026-01-01T12:00:00.000Z',
    to: '2026-01-01T12:10:00.000Z',
    bins: [
      { at: '2026-01-01T12:00:00.000Z', lines: 2, warnings: 1, errors: 0 },
      { at: '2026-01-01T12:04:00.000Z', lines: 1, warnings: 0, errors: 1 },
      { at: '2026-01-01T12:08:00.000Z', lines: 1, warnings: 0, errors: 1 },
    ],
  });
  expect(binned([lines[0], lines[0]], 5)).toEqual([{ bin: 0, lines: 2, warnings: 0, errors: 0 }]);
  expect(countsOf(binned([], 5), undefined, undefined, 5)).toEqual({ from: null, to: null, bins: [] });
});
