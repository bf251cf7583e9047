import { Log } from './log';

it('writes what an entry holds without anything that moves the cursor or reorders text', () => {
  const lines: string[] = [];
  const log = new Log((line) => lines.push(line), false, 4);
  const [name, text, stack] = ['a\u001b[31mb', 'c\u061cd\u200ee\u200ff\u202eg', 'Error: h\u009bi\n    at j'];
  log.say('core', JSON.stringify({ level: 50, time: 0, msg: text, name, err: { stack } }));
  expect(lines).toEqual([
    'core | 00:00:00.000 error c\ufffdd\ufffde\ufffdf\ufffdg name=a\ufffd[31mb\nError: h\ufffdi\n    at j',
  ]);
});
