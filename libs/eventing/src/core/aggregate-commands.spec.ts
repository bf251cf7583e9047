import {
  type Aggregate,
  AggregateCommands,
  type Caller,
  type DomainEvent,
  nameStream,
  serviceCaller,
  VersionMismatch,
} from '..';
import { MemoryEventStore } from '../testing';

interface Door {
  readonly tenant_id: string;
  readonly removed: boolean;
  readonly colour: string;
}
type DoorEvent =
  | DomainEvent<'DoorMade', { readonly tenant_id: string; readonly colour: string }>
  | DomainEvent<'DoorPainted', { readonly colour: string }>
  | DomainEvent<'DoorRemoved', Record<string, never>>;

class DoorMissing extends Error {}

const doors: Aggregate<Door, DoorEvent> = {
  category: 'door',
  model: {
    initial: null,
    evolve(state, { type, data }) {
      if (type === 'DoorMade') return { ...data, removed: false };
      return state && { ...state, ...(type === 'DoorPainted' ? data : { removed: true }) };
    },
  },
  notFound: (id) => new DoorMissing(id),
};

const paint = (colour: string) => (): DoorEvent[] => [{ type: 'DoorPainted', data: { colour } }];
const remove = (): DoorEvent[] => [{ type: 'DoorRemoved', data: {} }];

let store: MemoryEventStore;
let commands: AggregateCommands<Door, DoorEvent>;
const mine = serviceCaller({ tenant: 'mine', actor: 'me' });
const yours = serviceCaller({ tenant: 'yours' });
const expecting = (version: number): Caller => ({ ...mine, expectedVersion: () => version });
const make = (id: string) =>
  commands.run(mine, id, () => [{ type: 'DoorMade', data: { tenant_id: 'mine', colour: 'red' } }]);

beforeEach(async () => {
  store = new MemoryEventStore();
  commands = new AggregateCommands(store, doors);
  await make('1');
});

it('finds and changes what the caller owns, and says so in the events', async () => {
  const changed = await commands.change(mine, '1', paint('blue'));
  expect(changed).toMatchObject({ state: { colour: 'blue' }, version: 2, edition: 2 });
  expect(changed.events).toMatchObject([{ type: 'DoorPainted', metadata: { tenant: 'mine', actor: 'me' } }]);
  expect(await commands.find('mine', '1')).toMatchObject({ state: { colour: 'blue' }, version: 2 });
});

it.each([
  ['another tenant', async () => commands.change(yours, '1', paint('blue'))],
  ['another tenant that only looks', async () => commands.find('yours', '1')],
  ['an id that nobody has', async () => commands.change(mine, '2', paint('blue'))],
  ['one that was removed', async () => commands.change(mine, '1', remove).then(() => commands.find('mine', '1'))],
])('is not there for %s', async (_, attempt) => {
  await expect(attempt()).rejects.toBeInstanceOf(DoorMissing);
});

it('refuses a change that starts from another version', async () => {
  await expect(commands.change(expecting(7), '1', paint('blue'))).rejects.toBeInstanceOf(VersionMismatch);
  await commands.change(expecting(1), '1', paint('blue'));
});

it('makes nothing ready for a change that is not the caller’s to make', async () => {
  const prepare = jest.fn(async () => paint('blue'));
  await expect(commands.changePrepared(yours, '1', prepare)).rejects.toBeInstanceOf(DoorMissing);
  expect(prepare).not.toHaveBeenCalled();
  expect(await commands.changePrepared(mine, '1', prepare)).toMatchObject({ state: { colour: 'blue' } });
});

it('reads the stream once for a change that needs something made ready', async () => {
  const read = jest.spyOn(store, 'read');
  await commands.changePrepared(mine, '1', async ({ colour }) => paint(`dark ${colour}`));
  expect(read).toHaveBeenCalledTimes(1);
});

it('gives a name to one at a time, and frees it when its owner is removed before it gave it back', async () => {
  const name = nameStream('doorName', 'mine', 'front');
  const taken = () => new Error('taken');
  await commands.reserve(name, '1', mine, taken);
  await make('2');
  await expect(commands.checkFree(name, taken)).rejects.toThrow('taken');
  await expect(commands.reserve(name, '2', mine, taken)).rejects.toThrow('taken');
  await commands.change(mine, '1', remove);
  await commands.checkFree(name, taken);
  await commands.reserve(name, '2', mine, taken);
  await commands.release(name, '2', mine);
  await make('3');
  await commands.reserve(name, '3', mine, taken);
});
