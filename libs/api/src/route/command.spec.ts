import { ClaimedCommand, newCommandId } from './command';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('The ids of a command', () => {
  it('are the same in every attempt, and others for another command, purpose and number', () => {
    const id = newCommandId();
    const ids = (of: string) => {
      const command = new ClaimedCommand(of, false, Infinity);
      return [
        command.idFor('a'),
        command.idFor('b'),
        command.idFor('a', 1),
        command.idFor('a', 11),
        command.idFor('a 1', 1),
      ];
    };
    expect(ids(id)).toEqual(ids(id));
    expect(new Set([...ids(id), ...ids(newCommandId())]).size).toBe(10);
  });

  it('are of version 7, have the time of the command, and sort by their number', () => {
    const command = new ClaimedCommand(newCommandId(), false, Infinity);
    const ids = Array.from({ length: 10_000 }, (_, nth) => command.idFor('example', nth));
    expect([newCommandId(), ...ids].filter((each) => !UUID_7.test(each))).toEqual([]);
    expect([...ids].sort()).toEqual(ids);
    expect(Math.abs(parseInt(ids[0]!.replace('-', '').slice(0, 12), 16) - Date.now())).toBeLessThan(600_000);
  });
});

it('A command may be repeated when another attempt came before, or its key may be held by another process', () => {
  const id = newCommandId();
  expect(new ClaimedCommand(id, false, performance.now() + 60_000).mayBeRepeated).toBe(false);
  expect(new ClaimedCommand(id, true, performance.now() + 60_000).mayBeRepeated).toBe(true);
  expect(new ClaimedCommand(id, false, performance.now() - 1).mayBeRepeated).toBe(true);
});
