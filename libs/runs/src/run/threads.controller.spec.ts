import { v4 as newId } from 'uuid';
import { type Reading, startReading } from '@fairlead/experiments/testing';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
});
afterAll(() => reading.stop());

const messages = (...texts: string[]) => ({ messages: texts.map((content) => ({ role: 'user', content })) });

it('The messages of a thread are answered in the order of its root runs, with those of no other thread or session', async () => {
  const session_name = `threads ${newId()}`;
  const thread = `a "quoted" \\ thread / ${newId()}`;
  const send = (minute: number, thread_id: string, members: object = {}) =>
    reading.post('/runs', {
      id: newId(),
      session_name,
      start_time: `2026-01-01T00:0${minute}:00Z`,
      end_time: `2026-01-01T00:0${minute}:01Z`,
      extra: { metadata: { thread_id } },
      ...members,
    });
  await send(2, thread, { inputs: messages('c\n\nd'), outputs: { answer: 'e' } });
  await send(1, thread, { inputs: messages('a'), outputs: messages('b') });
  await send(3, 'another', { inputs: messages('f') });
  await send(4, thread, { session_name: `${session_name} too`, inputs: messages('g') });
  const [session] = (await reading.get(`/sessions?name=${encodeURIComponent(session_name)}`)).json;
  const path = `/runs/threads/${encodeURIComponent(thread)}`;
  const read = async (query: string) => {
    const { json } = await reading.get(`${path}${query}`);
    const { all_messages: text } = (json as { previews: { all_messages: string } }).previews;
    return text.split('\n\n').map((line) => (JSON.parse(line) as { content: string }).content);
  };
  expect(await read(`?select=all_messages&session_id=${session.id}`)).toEqual(['a', 'b', 'c\n\nd', 'e']);
  expect(await read('')).toEqual(['a', 'b', 'c\n\nd', 'e', 'g']);
  expect((await reading.get(path)).json).toMatchObject({ thread_id: thread, is_complete: true });
  // As clients send it that encode no slash.
  const sent = `/runs/threads/${encodeURIComponent(thread).replaceAll('%2F', '/')}`;
  expect((await reading.get(sent)).json).toMatchObject({ thread_id: thread });
  const none = await reading.get(`/runs/threads/nobody?session_id=${session.id}`);
  expect([none.status, none.json]).toEqual([404, { detail: 'Thread ID nobody not found.' }]);
  expect((await reading.get(`${path}?session_id=x`)).status).toBe(422);
});
