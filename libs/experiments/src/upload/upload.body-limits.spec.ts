import { v4 as newId } from 'uuid';
import { type Reading, startReading } from '../testing/reading';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading({ body: 3000, depth: 6, values: 60 });
});
afterAll(() => reading.stop());

/** A body that is no JSON, such as a form with a file. */
const isOther = (body: object) =>
  'content' in body && !Object.keys(body.content as object).some((type) => type.includes('json'));

/** Routes that take JSON, without those for runs and examples, which have limits of their own. */
const taking = () =>
  reading.routes.filter(
    ({ path, method, description }) =>
      description?.body !== undefined &&
      !isOther(description.body) &&
      !path.includes('/examples') &&
      !(path.startsWith('/api/v1/runs') && /^\/api\/v1\/runs(\/batch|\/multipart|\/:run_id)?$/.test(path)) &&
      method !== 'GET',
  );

it.each([
  ['bytes', JSON.stringify({ name: 'x'.repeat(4000) }), 413, /larger than the limit of 3000 bytes/],
  ['values', JSON.stringify({ name: Array(100).fill(1) }), 413, /more than 60 values/],
  ['levels', `{"name":${'['.repeat(10)}${']'.repeat(10)}}`, 422, /deeper than the limit of 6 levels/],
])('The limit of %s holds for every route that takes JSON', async (_, body, status, detail) => {
  expect(taking().length).toBeGreaterThan(10);
  for (const { method, path } of taking()) {
    const url = path.replaceAll(/:\w+/g, () => newId());
    const answer = await reading.send(method as 'POST', url, body);
    expect({ method, path, status: answer.status, text: answer.text }).toEqual({
      method,
      path,
      status,
      text: expect.stringMatching(detail),
    });
  }
});
