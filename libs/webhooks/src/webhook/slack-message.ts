import { EVENT_TYPES } from './event-types';

/** Slack refuses texts of more than 3,000 characters; a character may become five (`&amp;`). */
const [MOST_TEXT, MOST_HEADLINE, MOST_NAME, MOST_VALUE] = [2900, 500, 100, 200];

/** A message as {@link publicEvent} makes it. */
interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const WORDS: Readonly<Record<string, string>> = {
  ...{ cost: 'cost', error_rate: 'error rate', latency_p50: 'median of the latency' },
  latency_p99: '99th percentile of the latency',
};

/**
 * Returns the body of a message in the form of Slack's incoming webhooks: a sentence as `text`, and `blocks` with the
 * facts below it. Nothing in it mentions people or makes links: `&`, `<` and `>` are escaped as Slack demands.
 */
export function slackMessage(body: string): string {
  const { type, timestamp, data } = JSON.parse(body) as Message;
  const headline = escaped(headlineOf(type, data), MOST_HEADLINE);
  let details = `*${headline}*`;
  for (const [name, value] of Object.entries(data)) {
    if (value === null || value === undefined) continue;
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    const line = `\n• ${escaped(name, MOST_NAME)}: ${escaped(shown, MOST_VALUE)}`;
    if (details.length + line.length <= MOST_TEXT) details += line;
  }
  const about = `${escaped(type, MOST_NAME)} · ${escaped(timestamp, MOST_NAME)}`;
  const blocks = [
    { type: 'section', text: markdown(details) },
    { type: 'context', elements: [markdown(about)] },
  ];
  return JSON.stringify({ text: headline, blocks });
}

function headlineOf(type: string, data: Message['data']): string {
  if (type === 'deployment.status_changed' && data.crash_looping === true && typeof data.reason === 'string') {
    return data.reason;
  }
  if (type === 'monitor.alerted') {
    return `${String(data.name)} alerts: ${measured(data)} is ${String(data.value)}, ${String(data.alerts_when)} ${String(data.threshold)}.`;
  }
  if (type === 'monitor.recovered') {
    return `${String(data.name)} has recovered: ${measured(data)} is ${String(data.value)}.`;
  }
  return (EVENT_TYPES as Readonly<Record<string, string>>)[type] ?? `Event ${type}.`;
}

function measured({ measure, feedback_key, runs, window_minutes }: Message['data']): string {
  const what = measure === 'score' ? `mean of ${String(feedback_key)}` : WORDS[String(measure)];
  return `${what ?? String(measure)} of ${String(runs)} runs in ${String(window_minutes)} minutes`;
}

/** Text is not linked and mentions nobody where it is verbatim. */
function markdown(text: string) {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** At most so many characters of a text, in one line. */
function escaped(text: string, most: number): string {
  const characters = [...text.slice(0, 2 * most)];
  const cut = characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
  return cut.replaceAll(/\s+/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
