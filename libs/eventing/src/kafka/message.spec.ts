import type { Recorded } from '../core/event';
import { toMessage, toPointer } from './message';

const event: Recorded = {
  id: '019a0000-0000-7000-8000-000000000001',
  type: 'Ordered',
  stream: 'order-1',
  version: 3,
  position: 7n,
  time: '2026-01-01T00:00:00.000Z',
  data: { secret: 'canary' },
  metadata: { tenant: 'tenant-1', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, actor: 'key-1' },
};

describe('A message', () => {
  it('is a CloudEvent in binary mode whose key is the stream', () => {
    expect(toMessage(event, 'orders.v1', { n: 1 })).toEqual({
      key: 'order-1',
      value: '{"n":1}',
      timestamp: String(Date.parse(event.time)),
      headers: {
        ce_specversion: '1.0',
        ce_id: event.id,
        ce_source: '/fairlead/orders.v1',
        ce_type: 'Ordered',
        ce_time: event.time,
        ce_subject: 'order-1',
        ce_partitionkey: 'order-1',
        ce_streamversion: '3',
        ce_tenantid: 'tenant-1',
        traceparent: event.metadata.traceparent,
        'content-type': 'application/json',
      },
    });
  });

  it('has no header for what its event does not know', () => {
    const { headers } = toMessage({ ...event, metadata: {} }, 'orders.v1', {});
    expect(Object.keys(headers).some((name) => /tenant|traceparent/.test(name))).toBe(false);
  });

  it('points at its event; another one points at none', () => {
    const { headers } = toMessage(event, 'orders.v1', {});
    const { id, type, stream, version } = event;
    expect(toPointer(headers)).toEqual({ id, type, stream, version });
    expect(toPointer({ ...headers, ce_streamversion: '0' })).toBeUndefined();
    expect(toPointer({ ce_type: type })).toBeUndefined();
    expect(toPointer(undefined)).toBeUndefined();
  });
});
