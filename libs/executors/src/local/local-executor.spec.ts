import { withoutEffect } from './local-executor';

it('names secrets whose variables the server sets, and members that only a cluster applies', () => {
  const resource_spec = {
    memory_mb: 100,
    sidecars: [{ name: 'a', image: 'b' }],
    volumes: [],
    service_account_name: 'c',
  };
  expect(
    withoutEffect({ resource_spec }, { secrets: ['TOKEN', 'PATH', 'LANGSMITH_API_KEY'], traced: true, set: ['PATH'] }),
  ).toEqual([
    'The secret PATH has no effect: the server sets this variable.',
    'The secret LANGSMITH_API_KEY has no effect: the server sets this variable.',
    'sidecars has no effect on this machine.',
    'service_account_name has no effect on this machine.',
  ]);
  expect(withoutEffect({ resource_spec: null }, { secrets: ['PATH', 'LANGSMITH_API_KEY'], traced: false })).toEqual([]);
});
