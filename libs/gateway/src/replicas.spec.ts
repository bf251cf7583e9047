import { Replicas } from './replicas';

describe('Replicas', () => {
  let now: number;
  let replicas: Replicas;
  beforeEach(() => {
    now = 1_000_000;
    replicas = new Replicas(['a', 'b', 'c'], () => now);
  });

  it('are asked in turn', () => {
    expect([1, 2, 3, 4].map(() => replicas.order().join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
  });

  it('come last after they failed, for longer each time, until they answer', () => {
    replicas.failed('a');
    expect([1, 2, 3].map(() => replicas.order().join(''))).toEqual(['bca', 'bca', 'cba']);
    now += 500;
    expect(replicas.order().join('')).toBe('abc');
    replicas.failed('a');
    now += 500;
    expect(replicas.order()[2]).toBe('a');
    now += 500;
    expect(replicas.order().join('')).toBe('cab');
    replicas.failed('a');
    replicas.answered('a');
    expect(replicas.order().join('')).toBe('abc');
  });

  it('are all asked when all of them failed', () => {
    for (const url of ['a', 'b', 'c']) replicas.failed(url);
    expect(replicas.order().sort()).toEqual(['a', 'b', 'c']);
  });
});
