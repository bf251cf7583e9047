import { requireVersion } from './server-version';

it('A server that is too old is refused in one line', () => {
  expect(() => requireVersion('15.18 (Debian 15.18-0)')).toThrow(
    'This is PostgreSQL 15.18 (Debian 15.18-0): Fairlead needs 16 or newer, and is tested with 18.',
  );
  expect(() => requireVersion('9.6.24')).toThrow('needs 16');
  for (const version of ['16.0', '18.1', '19beta1']) expect(() => requireVersion(version)).not.toThrow();
});
