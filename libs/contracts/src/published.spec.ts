import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import type { LoggedEvent } from './facts';
import { publications } from './published';
import { asyncApi, problemsOf } from './testing';

interface Fixture {
  readonly event: LoggedEvent;
  readonly told: object;
}

const fixtures = JSON.parse(readFileSync(join(__dirname, 'fixtures/published.json'), 'utf8')) as Fixture[];
const publicTypes = [...publications.topics].filter(([, topic]) => topic !== 'internal.v1').map(([type]) => type);

const headersOf = ({ type, stream }: LoggedEvent) => ({
  ce_specversion: '1.0',
  ce_id: '019a0000-0000-7000-8000-000000000001',
  ce_source: '/fairlead',
  ce_type: type,
  ce_time: '2026-01-01T00:00:00.000Z',
  ce_subject: stream,
  ce_partitionkey: stream,
  ce_streamversion: '1',
  'content-type': 'application/json',
});

describe('asyncapi.yaml', () => {
  it('is a valid AsyncAPI 3 document', () => {
    const path = require.resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const ajv = new Ajv({ strict: false, validateFormats: false, logger: false });
    const validate = ajv.compile(JSON.parse(readFileSync(path, 'utf8')) as object);
    validate(asyncApi);
    expect(validate.errors).toBeNull();
  });

  it('describes exactly what is published, on the topic where it is', () => {
    const described = Object.values(asyncApi.channels).flatMap(({ address, messages }) =>
      Object.keys(messages).map((type) => `${type} on ${address}`),
    );
    const published = publicTypes.map((type) => `${type} on ${publications.topics.get(type)}`);
    expect(described.sort()).toEqual(published.sort());
  });
});

it('there is a fixture for every type that is published', () => {
  expect([...new Set(fixtures.map(({ event }) => event.type))].sort()).toEqual(publicTypes.sort());
});

describe.each(fixtures)('$event.type', ({ event, told }) => {
  it('tells what is public, and nothing sealed or opaque', () => {
    expect(publications.data(event)).toEqual(told);
    expect(JSON.stringify(told)).not.toMatch(/sealed|digest|private/);
  });

  it('is as asyncapi.yaml says', () => {
    expect(problemsOf(event.type, headersOf(event), publications.data(event))).toEqual([]);
  });
});

it('a message that lacks something is found out', () => {
  const [{ event }] = fixtures as [Fixture];
  expect(problemsOf(event.type, {}, {})).toContain(" must have required property 'deployment_id'");
  expect(problemsOf('Unheard', {}, {})).toEqual(['Unheard is not described.']);
});

it('what services tell only one another is only pointed at', () => {
  expect(publications.data({ type: 'PushReceived', stream: 'integration-1', data: { ref: 'main' } })).toBeUndefined();
});
