import { AppVisitors, LINK_MS, VISIT_MS } from './app-visitors';

let now: number;
let visitors: AppVisitors;
beforeEach(() => {
  now = 0;
  visitors = new AppVisitors(() => now);
});

it('a link admits one browser to its own deployment', () => {
  const code = visitors.invite('one');
  expect(visitors.admit('two', code)).toBeUndefined();
  const token = visitors.admit('one', code)!;
  expect(visitors.admit('one', code)).toBeUndefined();
  expect([visitors.knows('one', token), visitors.knows('two', token), visitors.knows('one', code)]).toEqual([
    true,
    false,
    false,
  ]);
});

it('a link and a visit end', () => {
  const late = visitors.invite('one');
  const token = visitors.admit('one', visitors.invite('one'))!;
  now = LINK_MS;
  expect(visitors.admit('one', late)).toBeUndefined();
  now = VISIT_MS - 1;
  expect(visitors.knows('one', token)).toBe(true);
  now = VISIT_MS;
  expect(visitors.knows('one', token)).toBe(false);
});

it('the oldest link gives way to the newest', () => {
  const first = visitors.invite('one');
  for (let count = 0; count < 200; count++) visitors.invite('one');
  expect(visitors.admit('one', first)).toBeUndefined();
});
