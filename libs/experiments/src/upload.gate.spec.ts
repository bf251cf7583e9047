import { Unavailable } from '@fairlead/http';
import { Gate } from './upload.gate';

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
    const one = gate.run(() => first.released.then(() => order.push('one')));
    const two = gate.run(() => Promise.resolve(order.push('two')));
    first.release();
    await Promise.all([one, two]);
    expect(order).toEqual(['one', 'two']);
  });

  it('turns away who has waited too long, and stays usable', async () => {
    const gate = new Gate(1, 20);
    const first = held();
    const one = gate.run(() => first.released);
    await expect(gate.run(() => Promise.resolve())).rejects.toThrow(Unavailable);
    first.release();
    await one;
    await expect(gate.run(() => Promise.reject(new Error('inside')))).rejects.toThrow('inside');
    await expect(gate.run(() => Promise.resolve(3))).resolves.toBe(3);
  });
});
