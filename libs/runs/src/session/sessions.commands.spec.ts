import { serviceCaller } from '@fairlead/eventing';
import { MemoryEventStore } from '@fairlead/eventing/testing';
import { sessionStream } from './experiment';
import { SessionExists } from './session.errors';
import { SessionCommands } from './sessions.commands';

let store: MemoryEventStore;
beforeEach(() => (store = new MemoryEventStore()));
afterEach(() => jest.useRealTimers());

const record = (id: string, version: number, type: string, data: object) =>
  store.append(sessionStream(id), version, [{ type, data }], { tenant: 't' });
const reserve = (name: string, id: string) =>
  new SessionCommands(store).reserveName(serviceCaller({ tenant: 't' }), name, id);

it('a name is free when its session was deleted and the process ended before the name was released', async () => {
  await reserve('mine', 'one');
  await record('one', 0, 'SessionCreated', { name: 'mine' });
  await expect(reserve('mine', 'two')).rejects.toBeInstanceOf(SessionExists);
  await record('one', 1, 'SessionDeleted', {});
  await reserve('mine', 'two');
  await expect(reserve('mine', 'three')).rejects.toMatchObject({ id: 'two' });
});

it('a name is free when its session was renamed and the process ended before the name was released', async () => {
  await reserve('mine', 'one');
  await record('one', 0, 'SessionCreated', { name: 'mine' });
  await record('one', 1, 'SessionPatched', { name: 'yours' });
  jest.useFakeTimers();
  await expect(reserve('mine', 'two')).rejects.toBeInstanceOf(SessionExists);
  jest.advanceTimersByTime(61_000);
  await reserve('mine', 'two');
  await expect(reserve('mine', 'one')).rejects.toMatchObject({ id: 'two' });
});

it('a name that a crash left with a renamed session is neither found nor refused before it is asked for', async () => {
  const sessions = new SessionCommands(store);
  await reserve('mine', 'one');
  await record('one', 0, 'SessionCreated', { name: 'mine' });
  await expect(sessions.checkName('t', 'mine', 'two')).rejects.toBeInstanceOf(SessionExists);
  expect(await sessions.named('t', 'mine')).toBe('one');
  await record('one', 1, 'SessionPatched', { name: 'yours' });
  await sessions.checkName('t', 'mine', 'two');
  expect(await sessions.named('t', 'mine')).toBeUndefined();
});

it('a session holds its next name while it is being renamed', async () => {
  await record('one', 0, 'SessionCreated', { name: 'mine' });
  await reserve('yours', 'one');
  await expect(reserve('yours', 'two')).rejects.toBeInstanceOf(SessionExists);
});

describe('the id of a session that is made by naming it', () => {
  const idFor = (name = 'mine') => new SessionCommands(store).idFor('t', name);

  it('is that of a reservation that a crash has left without its session', async () => {
    const id = await idFor();
    await reserve('mine', id);
    expect(await idFor()).toBe(id);
    await reserve('mine', id);
    expect(await idFor('yours')).not.toBe(id);
    expect(await new SessionCommands(store).idFor('another', 'mine')).not.toBe(id);
  });

  it('is another one once the session was deleted, also when a crash has kept its name', async () => {
    const sessions = new SessionCommands(store);
    const id = await idFor();
    await reserve('mine', id);
    await record(id, 0, 'SessionCreated', { name: 'mine', tenant_id: 't' });
    await record(id, 1, 'SessionDeleted', {});
    const next = await idFor();
    expect(next).not.toBe(id);
    await sessions.releaseName(serviceCaller({ tenant: 't' }), 'mine', id);
    const last = await idFor();
    expect(last).not.toBe(id);
    await reserve('mine', last);
    expect(await idFor()).toBe(last);
  });

  it('is not one that another session has', async () => {
    const id = await idFor();
    await record(id, 0, 'SessionCreated', { name: 'yours', tenant_id: 'another' });
    expect(await idFor()).not.toBe(id);
  });

  it('is not that of an upload that has the name', async () => {
    await reserve('mine', 'upload');
    expect(await idFor()).not.toBe('upload');
    await expect(reserve('mine', await idFor())).rejects.toMatchObject({ id: 'upload' });
  });
});
