import { type Refusal, RefusalCounts } from './refusals';

const refusal: Refusal = {
  tenantId: null,
  actor: null,
  request: 'GET /v2/deployments',
  status: 401,
  requestId: 'r1',
  address: '192.0.2.1',
  time: 1,
};

it('counts like refusals together and keeps the first', () => {
  const counts = new RefusalCounts(10);
  counts.add(refusal);
  counts.add({ ...refusal, requestId: 'r2', time: 2 });
  counts.add({ ...refusal, address: '192.0.2.2' });
  expect(counts.take()).toEqual([
    { ...refusal, count: 2 },
    { ...refusal, address: '192.0.2.2', count: 1 },
  ]);
  expect(counts.take()).toEqual([]);
});

it('holds no more than it may, whatever comes', () => {
  const counts = new RefusalCounts(2);
  for (let n = 0; n < 1000; n++) counts.add({ ...refusal, address: `192.0.2.${n}` });
  expect(counts.dropped).toBe(998);
  expect(counts.take()).toHaveLength(2);
});
