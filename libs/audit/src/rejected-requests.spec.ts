import fc from 'fast-check';
import { OTHERS, type RejectedRequest, RejectedRequestCounts } from './rejected-requests';

const rejected: RejectedRequest = {
  tenantId: null,
  actor: null,
  request: 'GET /v2/deployments',
  status: 401,
  requestId: 'r1',
  address: '192.0.2.1',
  time: 1,
};
const keyed: RejectedRequest = { ...rejected, tenantId: 't', actor: 'k', status: 403 };

it('sums what an address without a key sends in a minute, whatever it asks for, and keeps the first', () => {
  const counts = new RejectedRequestCounts(10, 10);
  counts.add(rejected);
  counts.add({ ...rejected, requestId: 'r2', request: 'POST /v2/deployments', time: 2 });
  counts.add({ ...rejected, address: '192.0.2.2' });
  expect(counts.take()).toMatchObject([
    { ...rejected, count: 2 },
    { ...rejected, address: '192.0.2.2', count: 1 },
  ]);
  expect(counts.take()).toEqual([]);
  counts.add({ ...rejected, time: 60_001 });
  expect(counts.take()).toMatchObject([{ time: 60_001, count: 1 }]);
});

it('gives what is added after a flush the same id until the minute ends', () => {
  const counts = new RejectedRequestCounts(10, 10);
  counts.add(rejected);
  const [first] = counts.take();
  counts.add({ ...rejected, time: 59_999 });
  expect(counts.take()).toEqual([{ ...first, count: 1 }]);
  counts.add({ ...rejected, time: 60_000 });
  expect(counts.take()[0]!.id).not.toBe(first!.id);
});

it('takes the addresses of an IPv6 network of 64 bits for one', () => {
  const counts = new RejectedRequestCounts(10, 10);
  for (let n = 0; n < 500; n++) counts.add({ ...rejected, address: `2001:db8:1:2::${n.toString(16)}` });
  expect(counts.take()).toMatchObject([{ address: '2001:db8:1:2::/64', count: 500 }]);
});

it('keeps the requests of a known key apart', () => {
  const counts = new RejectedRequestCounts(10, 10);
  for (const request of ['GET /a', 'GET /b', 'GET /a']) counts.add({ ...keyed, request });
  expect(counts.take()).toMatchObject([
    { request: 'GET /a', count: 2 },
    { request: 'GET /b', count: 1 },
  ]);
});

it('leaves other workspaces their rows when one fills its own', () => {
  const counts = new RejectedRequestCounts(100, 5);
  for (let n = 0; n < 1000; n++) counts.add({ ...keyed, address: `192.0.${n % 250}.${n}` });
  counts.add({ ...keyed, tenantId: 'other', actor: 'theirs' });
  const taken = counts.take();
  expect(taken).toHaveLength(7);
  expect(taken).toContainEqual(
    expect.objectContaining({ tenantId: 't', request: OTHERS, address: OTHERS, count: 995 }),
  );
  expect(taken).toContainEqual(expect.objectContaining({ tenantId: 'other', actor: 'theirs', count: 1 }));
});

it('holds no more than it may and counts everything, whatever comes', () => {
  const any = fc.record({
    ...{ tenantId: fc.option(fc.nat({ max: 30 }).map(String)), actor: fc.option(fc.constantFrom('a', 'b')) },
    ...{ request: fc.nat().map(String), status: fc.constantFrom(401 as const, 403 as const) },
    ...{ requestId: fc.constant('r'), address: fc.oneof(fc.ipV4(), fc.ipV6()), time: fc.nat({ max: 59_999 }) },
  });
  const property = fc.property(fc.array(any, { maxLength: 300 }), (rejected) => {
    const counts = new RejectedRequestCounts(10, 3);
    for (const one of rejected) counts.add(one);
    const taken = counts.take();
    // The two last are the sums of the installation, one for each status.
    expect(taken.length).toBeLessThanOrEqual(2 * 10 + 2);
    expect(taken.reduce((sum, { count }) => sum + count, 0)).toBe(rejected.length);
  });
  fc.assert(property);
});
