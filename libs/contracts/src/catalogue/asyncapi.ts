import { CATALOGUE, type EventType } from './catalogue';
import { SCHEMAS } from './payload';
import type { PublicTopic, Row } from './row';

const CHANNELS: Readonly<Record<PublicTopic, { readonly name: string; readonly title: string }>> = {
  'deployments.v1': { name: 'deployments', title: 'Deployments' },
  'revisions.v1': { name: 'revisions', title: 'Revisions of deployments' },
  'experiments.v1': { name: 'experiments', title: 'Datasets, experiments and feedback' },
};

const DESCRIPTION = `What happens in Fairlead, as CloudEvents 1.0 in binary mode on Kafka. The key of a message is its subject: the
messages of one deployment, dataset or session are in order. Delivery is at least once: a message whose \`ce_id\` has
been dealt with has been seen before, and so has one whose \`ce_streamversion\` is not above the last one of its
\`ce_subject\` on the same topic. Members and types may be added, never changed or removed.
`;

const text = (description?: string) => ({ type: 'string', ...(description !== undefined && { description }) });

const HEADERS = {
  ce_specversion: { const: '1.0' },
  ce_id: { type: 'string', format: 'uuid', description: 'The same in every delivery of the event.' },
  ce_source: { type: 'string', format: 'uri-reference' },
  ce_type: text(),
  ce_time: { type: 'string', format: 'date-time' },
  ce_subject: text('What it is about, as `<kind>-<id>`.'),
  ce_partitionkey: text('The key of the message.'),
  ce_streamversion: {
    type: 'string',
    pattern: '^[1-9][0-9]*$',
    description: 'A whole number that grows with every event of the subject; not all of them are published.',
  },
  'content-type': { const: 'application/json' },
};

const SOMETIMES = {
  ce_tenantid: { type: 'string', format: 'uuid', description: 'The workspace that it belongs to.' },
  traceparent: text('W3C trace context of the request that it comes from.'),
};

/** The AsyncAPI 3 document of all messages that are published: the content of asyncapi.yaml. */
export function asyncApi() {
  const rows = Object.entries(CATALOGUE as Record<EventType, Row>);
  const published = rows.flatMap(([type, row]) => ('payload' in row ? [{ type, ...row }] : []));
  const channels = Object.entries(CHANNELS).map(([topic, { name, title }]) => {
    const messages = published.filter((row) => row.topic === topic).map(({ type }) => type);
    const refs = messages.map((type) => [type, { $ref: `#/components/messages/${type}` }]);
    return [name, { address: topic, title, messages: Object.fromEntries(refs) as Record<string, object> }] as const;
  });
  const operations = Object.values(CHANNELS).map(({ name }) => [
    `publish${name[0]!.toUpperCase()}${name.slice(1)}`,
    { action: 'send', channel: { $ref: `#/channels/${name}` } },
  ]);
  const messages = published.map(({ type, title, payload }) => [
    type,
    { title, traits: [{ $ref: '#/components/messageTraits/CloudEvent' }], payload },
  ]);
  return {
    asyncapi: '3.0.0',
    info: { title: 'Fairlead events', version: '1.0.0', description: DESCRIPTION },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels),
    operations: Object.fromEntries(operations) as Record<string, object>,
    components: {
      messageTraits: {
        CloudEvent: {
          contentType: 'application/json',
          headers: { type: 'object', required: Object.keys(HEADERS), properties: { ...HEADERS, ...SOMETIMES } },
          bindings: { kafka: { key: text('The value of ce_subject.') } },
        },
      },
      messages: Object.fromEntries(messages) as Record<string, object>,
      schemas: SCHEMAS,
    },
  };
}
