import { csvLine } from './csv-line';

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠A'])(
  'keeps a spreadsheet from taking %j for a formula',
  (value) => {
    expect(csvLine(['a', value]).replaceAll('"', '')).toBe(`a,'${value}\r\n`);
  },
);

it('leaves numbers, other text and quotes as they are', () => {
  expect(csvLine([-1.5, 1e-7, null, 'plain', '1=1', 'a "b",\nc'])).toBe('-1.5,1e-7,,plain,1=1,"a ""b"",\nc"\r\n');
});
