import { spans } from './ansi';

it('tells colours, and leaves out every other command to a terminal', () => {
  expect(spans('\u001b[1;31mError\u001b[0m: \u001b[38;5;31mit\u001b[39m failed\u001b[2K\u001b]0;title\u0007')).toEqual([
    { text: 'Error', bold: true, colour: 1 },
    { text: ': ' },
    { text: 'it' },
    { text: ' failed' },
  ]);
});

it('shows what is left after a line was written over', () => {
  expect(spans('10 %\r50 %\r100 %\r\n')).toEqual([{ text: '100 %' }]);
});
