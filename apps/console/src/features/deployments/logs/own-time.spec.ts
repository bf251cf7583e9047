import { withoutTime } from './own-time';

it.each([
  ['2026-11-23T10:28:42.120Z [warning  ] Slow', '[warning  ] Slow'],
  ['2026-11-23 10:28:42,120 ERROR module: message', 'ERROR module: message'],
  ['2026-11-23 10:28:42,120 - agent - CRITICAL - message', 'agent - CRITICAL - message'],
  ['[2026-11-23 10:28:42.120] | DEBUG', 'DEBUG'],
  ['2026-11-23T10:28:42+01:00 started', 'started'],
  ['2026-11-23 was a Monday', '2026-11-23 was a Monday'],
  ['at 2026-11-23T10:28:42Z it ended', 'at 2026-11-23T10:28:42Z it ended'],
  ['2026-11-23T10:28:42Z ', '2026-11-23T10:28:42Z '],
  ['', ''],
])('%s', (line, rest) => expect(withoutTime(line)).toBe(rest));
