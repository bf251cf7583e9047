import { type Optional, readSetting } from '@fairlead/schema';
import { BODY_SETTINGS, EDGE_DEFAULTS, RATE_SETTINGS, readEdgeSettings } from './edge-settings';

function readFrom(env: Readonly<Record<string, string>>) {
  const settings: Readonly<Record<string, Optional<unknown, unknown>>> = { ...BODY_SETTINGS, ...RATE_SETTINGS };
  const read = (name: string) => {
    const { schema, absent } = settings[name]!;
    return env[name] === undefined ? absent : readSetting(schema, env[name]);
  };
  return readEdgeSettings(read as Parameters<typeof readEdgeSettings>[0], env.PUBLIC_URL);
}

describe('The settings of the edge', () => {
  it('have defaults', () => {
    expect(readFrom({})).toEqual(EDGE_DEFAULTS);
  });

  it.each([
    ['RATE_LIMIT_KEY', 'off', { rates: { key: undefined, address: EDGE_DEFAULTS.rates.address } }],
    ['RATE_LIMIT_ADDRESS', '90/m', { rates: { address: { requests: 90, seconds: 60 } } }],
    ['RATE_LIMIT_WRONG_KEYS', '5/h', { rates: { wrongKeys: { requests: 5, seconds: 3600 } } }],
    ['MAX_REQUESTS', '20', { requests: { total: 20, perKey: 256 } }],
    ['MAX_UPLOADS_PER_KEY', '2', { uploads: { total: 64, perKey: 2 } }],
    ['BODY_MEMORY_BYTES', '33554432', { bodyMemory: 33_554_432 }],
    ['BODY_MIN_RATE', '5000', { bodyRate: 5000 }],
    ['MAX_CONNECTIONS', '100', { connections: 100 }],
    ['MAX_CONNECTIONS_PER_ADDRESS', '10', { connectionsPerAddress: 10 }],
    ['CORS_ORIGINS', '*', { cors: '*' }],
    ['APPS_CORS_ORIGINS', 'https://a.example', { cors: undefined, appsCors: ['https://a.example'] }],
    [
      'CORS_ORIGINS',
      'https://a.example, http://b.example:8080/',
      { cors: ['https://a.example', 'http://b.example:8080'] },
    ],
    ['TRUST_PROXY', '2', { trustProxy: 2 }],
    ['TRUST_PROXY', 'loopback, 10.0.0.0/8,::1', { trustProxy: ['loopback', '10.0.0.0/8', '::1'] }],
    ['PUBLIC_URL', 'https://fairlead.example', { https: true }],
  ])('take %s=%s', (name, value, expected) => {
    expect(readFrom({ [name]: value })).toMatchObject(expected);
  });

  it.each([
    ['RATE_LIMIT_KEY', '10'],
    ['RATE_LIMIT_KEY', '0/s'],
    ['RATE_LIMIT_KEY', '10/d'],
    ['MAX_REQUESTS', '0'],
    ['MAX_CONNECTIONS', 'many'],
    ['BODY_MEMORY_BYTES', '1000'],
    ['CORS_ORIGINS', 'a.example'],
    ['APPS_CORS_ORIGINS', 'a.example'],
    ['CORS_ORIGINS', 'https://a.example/path'],
    ['CORS_ORIGINS', 'https://a.example,*'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0'],
    ['TRUST_PROXY', 'proxy.example'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => readFrom({ [name]: value })).toThrow(/^(must be|holds) .*[^.]$/);
  });
});
