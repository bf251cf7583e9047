import { Complaint } from './complaint';

it('A failure is told when it begins, once a minute while it lasts, and when it comes back', () => {
  const told: string[] = [];
  let now = 5;
  const complaint = new Complaint(
    (text) => told.push(text),
    () => now,
  );
  for (; now < 120_000; now += 1_000) complaint.failed(`at ${now}`);
  expect(told).toEqual(['at 5', 'at 60005']);
  complaint.worked();
  complaint.failed('again');
  complaint.failed('still');
  expect(told).toEqual(['at 5', 'at 60005', 'again']);
});
