import { queryOf } from './data';

const NOW = Date.parse('2026-01-02T12:00:30Z');

it('asks the service for what the address says', () => {
  expect(queryOf({ since: '24h', operations: 'a, b', outcome: 'refused', entry: 'x' }, NOW)).toEqual({
    start_time: '2026-01-01T12:00:00.000Z',
    operations: ['a', 'b'],
    outcome: 'refused',
  });
  expect(queryOf({ since: 'nonsense' }, NOW)).toEqual({});
});
