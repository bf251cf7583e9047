import { Unavailable } from '@fairlead/schema';
import { Gate } from './gate';

function held() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

describe('the gate', () => {
  it('lets the next one in when there is room again', async () => {
    const gate = new Gate(1, 5000);
    const first = held();
    const order: string[] = [];
    const one = gate.run('a', () => first.released.then(() => order.push('one')));
    const two = gate.run('a', () => Promise.resolve(order.push('two')));
    first.release();
    await Promise.all([one, two]);
    expect(order).toEqual(['one', 'two']);
  });

  it('leaves places to other workspaces, whatever one of them does', async () => {
    const gate = new Gate(8, 20);
    const first = held();
    const slow = Array.from({ length: 20 }, () =>
      gate.run('slow', () => first.released).catch((error: Error) => error),
    );
    await expect(gate.run('other', () => Promise.resolve(1))).resolves.toBe(1);
    first.release();
    const refused = (await Promise.all(slow)).filter((outcome) => outcome instanceof Unavailable);
    expect(refused.length).toBeLessThanOrEqual(14);
    await expect(gate.run('slow', () => Promise.resolve(2))).resolves.toBe(2);
  });

  it('turns away who has waited too long, and stays usable', async () => {
    const gate = new Gate(1, 20);
    const first = held();
    const one = gate.run('a', () => first.released);
    await expect(gate.run('a', () => Promise.resolve())).rejects.toThrow(Unavailable);
    first.release();
    await one;
    await expect(gate.run('a', () => Promise.reject(new Error('inside')))).rejects.toThrow('inside');
    await expect(gate.run('a', () => Promise.resolve(3))).resolves.toBe(3);
  });
});
