import { v4 as newId } from 'uuid';
import { type Reading, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

/** Sent in Latin-1. */
const TEXT = 'Gruy\u00e8re';
const TIME = '2026-01-01T00:00:00Z';
const dataset = newId();
const run = () => {
  const id = newId();
  return { id, trace_id: id, dotted_order: `20260101T000000000000Z${id}`, start_time: TIME, run_type: 'chain' };
};
const part = (name: string, value: string) =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: application/json\r\n\r\n${value}\r\n`;
const JSON_BODY = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'multipart/form-data; boundary=x' };
const json = (value: unknown) => [JSON.stringify(value), JSON_BODY] as const;
const form = (...parts: string[]) => [`${parts.join('')}--x--\r\n`, FORM] as const;

it.each([
  ['/datasets', () => json({ name: TEXT })],
  ['/datasets', () => json({ name: newId(), metadata: { a: TEXT } })],
  ['/examples', () => json({ dataset_id: dataset, inputs: { a: TEXT } })],
  ['/examples/bulk', () => json([{ dataset_id: dataset, inputs: { [TEXT]: 1 } }])],
  [`/platform/datasets/${dataset}/examples`, () => form(part(newId(), JSON.stringify({ metadata: { a: TEXT } })))],
  [
    `/platform/datasets/${dataset}/examples`,
    () => {
      const id = newId();
      return form(part(id, '{}'), part(`${id}.attachment.${TEXT}`, '1'));
    },
  ],
  ['/feedback', () => json({ run_id: newId(), key: 'k', comment: TEXT })],
  ['/runs', () => json({ ...run(), name: TEXT })],
  ['/sessions', () => json({ name: TEXT })],
  ['/runs/query', () => json({ session: [newId()], filter: TEXT })],
] as const)('POST %s refuses text that is not UTF-8', async (path, request) => {
  if ((await reading.get(`/datasets/${dataset}`)).status === 404) {
    await reading.post('/datasets', { id: dataset, name: dataset });
  }
  const [text, headers] = request();
  const refused = await reading.send('POST', path, Buffer.from(text, 'latin1'), 'a', headers);
  expect([400, 422]).toContain(refused.status);
  expect(refused.text).toMatch(/UTF-8/);
  const { rows } = await reading.pool.query("select 1 from events where data::text like '%\ufffd%'");
  expect(rows).toEqual([]);
});
