import fc from 'fast-check';
import { EVENT_TYPES } from './event-types';
import { slackMessage } from './slack-message';

interface Sent {
  readonly text: string;
  readonly blocks: readonly [{ text: { text: string } }, { elements: readonly [{ text: string }] }];
}

const timestamp = '2026-01-01T12:00:00.000Z';
const sent = (type: string, data: object) =>
  JSON.parse(slackMessage(JSON.stringify({ type, timestamp, data }))) as Sent;
const monitor = {
  ...{ monitor_id: 'm', name: 'Errors <prod> & co', state: 'alerting', value: 0.25, runs: 40, reason: null },
  ...{ measure: 'error_rate', feedback_key: null, alerts_when: 'above', threshold: 0.2, window_minutes: 60 },
};

it('tells what a monitor found in one sentence, with its facts below', () => {
  const sentence = 'Errors &lt;prod&gt; &amp; co alerts: error rate of 40 runs in 60 minutes is 0.25, above 0.2.';
  expect(sent('monitor.alerted', monitor)).toEqual({
    text: sentence,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', verbatim: true, text: expect.stringContaining(`*${sentence}*\n• `) } },
      { type: 'context', elements: [{ type: 'mrkdwn', verbatim: true, text: `monitor.alerted · ${timestamp}` }] },
    ],
  });
  const score = { ...monitor, name: 'Quality', measure: 'score', feedback_key: 'correct', value: 0.9 };
  expect(sent('monitor.recovered', score).text).toBe(
    'Quality has recovered: mean of correct of 40 runs in 60 minutes is 0.9.',
  );
});

it('tells a crash loop in its words', () => {
  const reason = 'Crash looping, 16 restarts, last line: cannot connect';
  const data = { deployment_id: 'd', status: 'UNKNOWN', reason, crash_looping: true };
  expect(sent('deployment.status_changed', data).text).toBe(reason);
});

it.each([...Object.entries(EVENT_TYPES), ['webhook.test', 'Event webhook.test.']])('knows %s', (type, sentence) => {
  const told = sent(type, { name: 'agent', nested: { a: ['<!channel>'] } });
  expect(told.text).toEqual(type.startsWith('monitor.') ? expect.any(String) : sentence);
  expect(told.blocks[0].text.text).toContain('\n• name: agent\n• nested: {"a":["&lt;!channel&gt;"]}');
});

it('is short, and mentions nobody, whatever the event says', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 5000 }),
    fc.constantFrom('<!channel>', '<@U1>', '&amp;', '<https://evil.example|click>', '&'.repeat(5000)),
  );
  const data = fc.dictionary(text, fc.oneof(text, fc.double(), fc.constant(null), fc.array(text, { maxLength: 3 })));
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(EVENT_TYPES)), data, (type, members) => {
      const told = sent(type, { ...monitor, ...members });
      const texts = [told.text, told.blocks[0].text.text, told.blocks[1].elements[0].text];
      for (const one of texts) {
        expect(one.length).toBeLessThanOrEqual(3000);
        expect(one).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
        expect(one).not.toMatch(/\p{Cs}/u);
      }
    }),
  );
});
