import { validate, version } from 'uuid';
import { newId } from './new-id';

describe('newId', () => {
  it('makes UUIDs of version 7, each another', () => {
    const ids = Array.from({ length: 1000 }, newId);
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  });

  it('holds the time it was made, so that ids sort by it', () => {
    const before = Date.now();
    const time = Number.parseInt(newId().replace('-', '').slice(0, 12), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  it('sorts ids that are made in one millisecond by their order, also by many more than its counter counts', () => {
    const ids = Array.from({ length: 20_000 }, newId);
    expect([...ids].sort()).toEqual(ids);
  });
});
