import { pathOf, placeOf } from './series';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const none = { errors: null, latency_p50_ms: null, latency_p99_ms: null, memory_bytes: null, restarts: null };
const at = (minutes: number, requests: number | null) => {
  return { ...none, at: new Date(NOW - minutes * 60_000).toISOString(), requests };
};

it('draws what was measured, and breaks the line where nothing was', () => {
  const points = [at(1441, 9), at(720, 4), at(719, 2), at(700, null), at(60, 0)];
  const { path, most, last } = pathOf(points, 'requests', 'minute', NOW);
  expect([most, last]).toEqual([9, 0]);
  expect(path.replaceAll(/h[\d.]+/g, '')).toBe('M300.0 33.3L300.4 46.7M575.0 60.0');
  expect(pathOf(points, 'errors', 'minute', NOW)).toEqual({ path: '', most: 0, last: undefined });
});

it('places times within the last day or the last 31 days', () => {
  const [day, month] = [NOW - 86_400_000, NOW - 31 * 86_400_000];
  expect([placeOf(NOW, 'minute', NOW), placeOf(day, 'minute', NOW), placeOf(day - 1, 'minute', NOW)]).toEqual([
    ...[600, 0, undefined],
  ]);
  expect([placeOf(month, 'hour', NOW), placeOf(month - 1, 'hour', NOW)]).toEqual([0, undefined]);
});
