import { AllLogs, AppLogs } from './app-logs';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const messages = (logs: AppLogs) => logs.lines().map(({ message }) => message);
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('');

it('keeps lines with their level, their order and without secrets, and what the server says', () => {
  const logs = new AppLogs({ bytes: 100_000, rate: 10 });
  const output = logs.output(['sesame-open']);
  output.write('INFO', 'sta');
  output.write('WARNING', 'a trace\nERROR: no ses');
  output.write('INFO', 'rts\n{"level":50,"msg":"sesame-open"}\n');
  output.write('WARNING', 'ame-open\nthe end');
  output.end();
  logs.say('The program ended.');
  const lines = logs.lines();
  expect(lines.map(({ level, message }) => [level, message])).toEqual([
    ['WARNING', 'a trace'],
    ['INFO', 'starts'],
    ['ERROR', '{"level":50,"msg":"[redacted]"}'],
    ['ERROR', 'ERROR: no [redacted]'],
    ['WARNING', 'the end'],
    ['ERROR', 'The program ended.'],
  ]);
  expect(lines.map(({ id }) => id - lines[0]!.id)).toEqual([0, 1, 2, 3, 4, 5]);
});

it('drops the lines that are too many a second, and says how many these were, also when no other line comes', () => {
  const counts = new AllLogs();
  const logs = new AppLogs({ bytes: 100_000, rate: 3 }, counts);
  const output = logs.output([]);
  output.write('INFO', numbered(315));
  output.write('WARNING', 'one more\n');
  expect(messages(logs)).toEqual(['line 1', 'line 2', 'line 3']);
  jest.advanceTimersByTime(5000);
  expect(messages(logs).slice(3)).toEqual(['313 lines dropped: too many a second.']);
  output.write('INFO', numbered(4));
  jest.advanceTimersByTime(1000);
  output.write('INFO', 'late\n');
  expect(messages(logs).slice(4)).toEqual(['line 1', 'line 2', 'line 3', '1 line dropped: too many a second.', 'late']);
  expect(counts).toMatchObject({ kept: 9, dropped: 314 });
});

it('keeps as many bytes as it may, and forgets the oldest lines', () => {
  const logs = new AppLogs({ bytes: 100_000, rate: 100_000 });
  const output = logs.output([]);
  output.write('INFO', numbered(20_000));
  const kept = messages(logs);
  expect(kept.at(-1)).toBe('line 20000');
  // Each is counted with 100 bytes beside its text.
  expect(kept.length).toBe(Math.floor(100_000 / 110));
  output.write('INFO', ' \n'.repeat(20_000));
  expect(messages(logs)).toEqual(Array.from({ length: Math.floor(100_000 / 101) }, () => ' '));
  output.write('INFO', `${'x'.repeat(200_000)}\n`);
  expect(messages(logs).map(({ length }) => length)).toEqual([16_384, 16_384, 16_384, 16_384, 16_384, 3392]);
});

it('has higher ids in the next process of the server', () => {
  const [before] = (() => {
    const logs = new AppLogs({ bytes: 100_000, rate: 10 });
    logs.say('one');
    return logs.lines();
  })();
  jest.advanceTimersByTime(1);
  const logs = new AppLogs({ bytes: 100_000, rate: 10 });
  logs.say('two');
  expect(logs.lines()[0]!.id).toBeGreaterThan(before!.id);
});

it('knows the last lines of one process, also those that are dropped', () => {
  const logs = new AppLogs({ bytes: 100_000, rate: 10 });
  const [one, other] = [logs.output(['sesame-open']), logs.output([])];
  other.write('INFO', 'of another one\n');
  one.write('INFO', `${numbered(65)}\nsesame-open`);
  one.end();
  expect(one.last.slice(-2)).toEqual(['line 65', '[redacted]']);
  expect(one.last).toHaveLength(60);
  expect(other.last).toEqual(['of another one']);
  expect([one.lastLine, other.lastLine]).toEqual(['[redacted]', 'of another one']);
});

it('knows the last line of a process that says something, without colours', () => {
  const output = new AppLogs({ bytes: 100_000, rate: 3 }).output([]);
  expect(output.lastLine).toBe('');
  output.write('WARNING', '\u001b[31mError: no production build\u001b[0m\n    at line 1\n}\n\nNode.js v24.1.0\n');
  expect(output.lastLine).toBe('Error: no production build');
  output.write('INFO', `${numbered(9)}\n`);
  expect(output.lastLine).toBe('line 9');
});

it('forgets the lines of programs that do not run and were not used for the longest time, when all have too many', () => {
  const most = 1_000_000;
  const all = new AllLogs(most);
  const running = new Set([0, 1]);
  const text = 'x'.repeat(9900);
  /** Somebody reads it all the time. */
  let followed: AppLogs | undefined;
  const programs = Array.from({ length: 300 }, (_, n) => {
    const logs = new AppLogs({ bytes: 100_000, rate: 100 }, all, () => running.has(n));
    jest.advanceTimersByTime(1);
    logs.say(text);
    if (n === 2) followed = logs;
    followed?.lines();
    expect(all.bytes).toBeLessThanOrEqual(most);
    return logs;
  });
  const kept = programs.flatMap((logs, n) => (messages(logs).includes(text) ? n : []));
  // The notices of the others take some room, too.
  expect(kept.slice(0, 4)).toEqual([0, 1, 2, kept[3]]);
  expect(kept.slice(3)).toEqual(Array.from({ length: kept.length - 3 }, (_, n) => 300 - (kept.length - 3) + n));
  expect(kept.length).toBeGreaterThan(90);
  const notice = 'Earlier lines were dropped: the logs of all deployments together had reached their limit.';
  expect(messages(programs[3]!)).toEqual([notice]);

  const [before] = programs[3]!.lines();
  programs[3]!.say('It is back.');
  expect(messages(programs[3]!)).toEqual([notice, 'It is back.']);
  expect(programs[3]!.lines()[1]!.id - before!.id).toBe(1);

  // Those that run follow when no other is left.
  for (const n of [...programs.keys()].slice(2)) programs[n]!.forget();
  const last = new AppLogs({ bytes: most, rate: 100 }, all, () => true);
  for (let count = 0; count < 100; count++) last.say(text);
  expect(programs.slice(0, 2).map(messages)).toEqual([[notice], [notice]]);
  for (const logs of [...programs, last]) logs.forget();
  expect(all.bytes).toBe(0);
});
