import { timeText } from './times';

const at = '2026-11-27T08:41:12.345Z';
const now = Date.parse('2026-11-27T10:50:00Z');

it('says how long ago a time was, or exactly when', () => {
  expect(timeText(at, 'relative', now)).toBe('2 h ago');
  expect(timeText(at, 'relative', Date.parse(at))).toBe('just now');
  expect(timeText(at, 'utc', now)).toBe('27 Nov 2026, 08:41:12 UTC');
  expect(timeText(at, 'local', now)).toMatch(/^2[67] Nov 2026, \d\d:\d\d:12$/);
});
