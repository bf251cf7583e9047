import type { Gate } from '@fairlead/contracts';
import type { NewEvent, Recorded } from '@fairlead/eventing';
import { MemoryEventStore } from '@fairlead/eventing/testing';
import { Unprocessable } from '@fairlead/schema';
import type { ListenerCommands } from '../listener/listener.commands';
import { DeploymentsOptions } from '../model/deployments.options';
import { NamedResources } from './named-resources.service';

/** A store that gives streams in parts, as those of a server, and counts the events that it gives. */
class CountingStore extends MemoryEventStore {
  given = 0;

  override async *parts(stream: string, after = 0): AsyncIterable<Recorded[]> {
    for (let from = after; ; from += 100) {
      const part = (await super.read(stream, from)).slice(0, 100);
      if (part.length === 0) return;
      this.given += part.length;
      yield part;
    }
  }

  override async read(stream: string, after?: number): Promise<Recorded[]> {
    const events = await super.read(stream, after);
    this.given += events.length;
    return events;
  }

  override async latest(stream: string, count: number): Promise<Recorded[]> {
    const events = await super.latest(stream, count);
    this.given += events.length;
    return events;
  }
}

const [dataset, experiment] = ['d0000000-0000-4000-8000-000000000001', 'e0000000-0000-4000-8000-000000000001'];
const created: NewEvent = { type: 'DatasetCreated', data: { name: 'questions' } };
const deleted: NewEvent = { type: 'DatasetDeleted', data: {} };
const session: NewEvent = { type: 'SessionCreated', data: { name: 'eval', reference_dataset_id: dataset } };
const many = (type: NewEvent['type']) => Array.from({ length: 5000 }, () => ({ type, data: {} }));

async function checked(
  streams: Readonly<Record<string, readonly NewEvent[]>>,
  baseline: Gate['baseline'] = 'active',
  { executor = 'local', ...more }: { readonly executor?: string; readonly preview?: boolean } = {},
) {
  const store = new CountingStore();
  for (const [stream, events] of Object.entries(streams)) {
    if (events.length > 0) await store.append(stream, 'any', events, { tenant: 't' });
  }
  const named = new NamedResources(store, {} as ListenerCommands, new DeploymentsOptions('any', { executor }), null);
  const gate = { name: 'gate', dataset_id: dataset, baseline, ...more } as Gate;
  const refused = (tenant: string) =>
    named.checkGates(tenant, [gate], [], ['gates']).then(
      () => undefined,
      (error: Unprocessable) => JSON.stringify(error),
    );
  return { store, refused };
}

describe('What a gate names', () => {
  it('is found in a long log with a few events of it', async () => {
    const streams = {
      [`dataset-${dataset}`]: [created, ...many('ExamplesAdded')],
      [`experiment-${experiment}`]: [session, ...many('RunsReceived')],
    };
    const { store, refused } = await checked(streams, { experiment_id: experiment });
    expect(await refused('t')).toBeUndefined();
    expect(store.given).toBeLessThan(200);
    expect(await refused('other')).toMatch('there is no dataset of this id in the workspace');
  });

  it('is not a dataset that was deleted, unless it was created again', async () => {
    const of = async (...events: NewEvent[]) => (await checked({ [`dataset-${dataset}`]: events })).refused('t');
    expect(await of()).toMatch('there is no dataset');
    expect(await of(created, deleted)).toMatch('there is no dataset');
    expect(await of(created, deleted, created)).toBeUndefined();
  });

  it('is not an experiment that was deleted, also when runs came afterwards, or that is on another dataset', async () => {
    const of = async (...events: NewEvent[]) => {
      const streams = { [`dataset-${dataset}`]: [created], [`experiment-${experiment}`]: events };
      return (await checked(streams, { experiment_id: experiment })).refused('t');
    };
    const gone: NewEvent = { type: 'SessionDeleted', data: {} };
    const late: NewEvent = { type: 'RunsReceived', data: {} };
    expect(await of(session, late)).toBeUndefined();
    expect(await of()).toMatch('there is no experiment of this id on the dataset');
    expect(await of(session, ...many('RunsReceived'), gone, late, late)).toMatch('there is no experiment');
    const other: NewEvent = { type: 'SessionCreated', data: { name: 'eval', reference_dataset_id: experiment } };
    expect(await of(other)).toMatch('there is no experiment');
  });

  it.each(['record', 'command'])('is not an address of held revisions with the executor %s', async (name) => {
    const streams = { [`dataset-${dataset}`]: [created] };
    const of = async (executor: string) => (await checked(streams, 'active', { executor, preview: true })).refused('t');
    for (const able of ['local', 'kubernetes']) expect(await of(able)).toBeUndefined();
    expect(await of(name)).toMatch(`needs the executor local or kubernetes, and this server has the executor ${name}`);
  });
});
