import { Room } from './room';

it('lets in what there is room for, however many ask at once', async () => {
  const stored: number[] = [1, 2, 3];
  const room = new Room(10);
  const add = async (thing: number) => {
    const leave = await room.take('one', 1, () => Promise.resolve(stored.length));
    if (!leave) return false;
    // It is counted only after others have looked.
    for (let turn = 0; turn < thing % 5; turn++) await new Promise(setImmediate);
    stored.push(thing);
    leave();
    return true;
  };
  const added = await Promise.all(Array.from({ length: 40 }, (_, thing) => add(thing)));
  expect(added.filter(Boolean)).toHaveLength(7);
  expect(stored).toHaveLength(10);
});

it('counts what came and was let go of while it counted', async () => {
  const room = new Room(1);
  let answer: (count: number) => void = () => undefined;
  const slow = room.take('one', 1, () => new Promise<number>((resolve) => (answer = resolve)));
  const quick = await room.take('one', 1, () => Promise.resolve(0));
  quick!();
  answer(0);
  expect(await slow).toBeUndefined();
});

it('keeps owners apart, gives room back, and fails as counting fails', async () => {
  const room = new Room(2);
  const none = () => Promise.resolve(0);
  expect(await room.take('one', 3, none)).toBeUndefined();
  const first = await room.take('one', 2, none);
  expect(await room.take('one', 1, none)).toBeUndefined();
  expect(await room.take('other', 2, none)).toBeDefined();
  await expect(room.take('one', 1, () => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
  first!();
  expect(await room.take('one', 2, none)).toBeDefined();
});
