import { commentText, cutText, LONGEST_COMMENT, markerLine, MOST_SECTIONS } from './comment-text';

it('tells of every deployment below a line that is not shown', () => {
  expect(commentText('m', ['## a', '## b'])).toBe('[//]: # (fairlead m)\n\n## a\n\n## b');
});

it('is no longer than hosts take, and ends with a whole line', () => {
  const section = '| a row of a table |\n'.repeat(10_000);
  const text = commentText(
    'm',
    Array.from({ length: MOST_SECTIONS + 3 }, () => section),
  );
  expect(text.length).toBeLessThanOrEqual(LONGEST_COMMENT);
  expect(text.startsWith(markerLine('m'))).toBe(true);
  expect(text).toMatch(/\n\n3 more deployments of this commit are in Fairlead\.$/);
  expect(new Set(text.split('\n').slice(2, -1))).toEqual(
    new Set(['| a row of a table |', '', 'The rest is in Fairlead.']),
  );
});

it('leaves out a line that is too long as a whole', () => {
  expect(cutText('x'.repeat(100), 100)).toHaveLength(100);
  expect(cutText('x'.repeat(101), 100)).toBe('\n\nThe rest is in Fairlead.');
});
