import { ThrottledWarning } from './throttled-warning';

it('A failure is told when it begins, once a minute while it lasts, and when it comes back', () => {
  const told: string[] = [];
  let now = 5;
  const warning = new ThrottledWarning(
    (text) => told.push(text),
    () => now,
  );
  for (; now < 120_000; now += 1_000) warning.failed(`at ${now}`);
  expect(told).toEqual(['at 5', 'at 60005']);
  warning.worked();
  warning.failed('again');
  warning.failed('still');
  expect(told).toEqual(['at 5', 'at 60005', 'again']);
});
