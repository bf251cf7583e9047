import { isIP } from 'node:net';
import { addressBlock } from '@fairlead/outbound';
import { note, optional, type Reading, setting, whole } from '@fairlead/schema';
import { parseCorsOrigins } from './headers/cors';
import type { AdmissionSettings } from './admission/admission';
import type { HeaderSettings } from './headers/default-headers';
import type { Rate } from './admission/rate-limit';

/** Limits for clients and proxies that the server applies before any other work. */
export interface EdgeSettings extends AdmissionSettings, HeaderSettings {
  /** Bytes of request bodies in memory together. */
  readonly bodyMemory: number;
  /** Bytes per second at which a body must arrive. */
  readonly bodyRate: number;
  /** Number of connections; further ones are closed at once. */
  readonly connections: number;
  /** Number of connections of one client network, or of one user of this machine; proxies have no limit. */
  readonly connectionsPerAddress: number;
  /** Proxies in front of the server: their number, or their addresses. Absent: none is trusted. */
  readonly trustProxy?: number | readonly string[];
}

export const EDGE_DEFAULTS: EdgeSettings = {
  rates: {
    key: { requests: 20_000, seconds: 1 },
    address: { requests: 20_000, seconds: 1 },
    wrongKeys: { requests: 300, seconds: 60 },
  },
  requests: { total: 512, perKey: 256 },
  uploads: { total: 64, perKey: 32 },
  bodyMemory: 256 * 1024 * 1024,
  bodyRate: 1000,
  connections: 10_000,
  connectionsPerAddress: 2_500,
  https: false,
};

const count = whole(1, 9_999_999);

export const BODY_SETTINGS = {
  BODY_MEMORY_BYTES: note(
    optional(setting(parseBytes), EDGE_DEFAULTS.bodyMemory),
    'Bytes of all request bodies in memory together ([overload](../guides/operations.md#overload)).',
  ),
  BODY_MIN_RATE: note(
    optional(count, EDGE_DEFAULTS.bodyRate),
    'Bytes per second at which a request body has to arrive; slower ones are answered 408.',
  ),
};

export const RATE_SETTINGS = {
  RATE_LIMIT_KEY: note(
    optional(setting(parseRate), EDGE_DEFAULTS.rates.key),
    'Requests of one API key in a time ([rate limits](../guides/operations.md#rate-limits)).',
  ),
  RATE_LIMIT_ADDRESS: note(
    optional(setting(parseRate), EDGE_DEFAULTS.rates.address),
    'Requests of one client address in a time.',
  ),
  RATE_LIMIT_WRONG_KEYS: note(
    optional(setting(parseRate), EDGE_DEFAULTS.rates.wrongKeys),
    'Different wrong keys that one address may try in a time.',
  ),
  MAX_REQUESTS: note(
    optional(count, EDGE_DEFAULTS.requests.total),
    'Requests that a process works on at a time; beyond it: 503 ([overload](../guides/operations.md#overload)).',
  ),
  MAX_REQUESTS_PER_KEY: note(
    optional(count, EDGE_DEFAULTS.requests.perKey),
    'Requests of one key that a process works on at a time.',
  ),
  MAX_UPLOADS: note(
    optional(count, EDGE_DEFAULTS.uploads.total),
    'Uploads that a process receives at a time, counted apart from other requests.',
  ),
  MAX_UPLOADS_PER_KEY: note(
    optional(count, EDGE_DEFAULTS.uploads.perKey),
    'Uploads of one key that a process receives at a time.',
  ),
  MAX_CONNECTIONS: note(optional(count, EDGE_DEFAULTS.connections), 'Connections of clients to a process at a time.'),
  MAX_CONNECTIONS_PER_ADDRESS: note(
    optional(count, EDGE_DEFAULTS.connectionsPerAddress),
    'Connections at a time of one IPv4 address or IPv6 network (64 bits), and over loopback of one user of this machine; proxies in `TRUST_PROXY` are not counted ([overload](../guides/operations.md#overload)).',
  ),
  TRUST_PROXY: note(
    optional(setting(parseTrustProxy)),
    'Proxies in front of the service whose `X-Forwarded-For` is believed: their number, or their addresses and networks, separated by commas; `loopback`, `linklocal` and `uniquelocal` name networks ([behind a proxy](../guides/operations.md#behind-a-proxy)).',
  ),
  CORS_ORIGINS: note(
    optional(setting(parseCorsOrigins)),
    'Origins whose scripts may call the API, separated by commas, or `*`.',
  ),
  APPS_CORS_ORIGINS: note(
    optional(setting(parseCorsOrigins)),
    'The same for the programs of deployments, at `/apps` ([local executor](../guides/local-addresses.md)); those of `CORS_ORIGINS` when unset.',
  ),
};

/** Returns the settings of the edge. `publicUrl`: the address at which clients reach the service. */
export function readEdgeSettings(
  read: Reading<typeof BODY_SETTINGS & typeof RATE_SETTINGS>,
  publicUrl?: string,
): EdgeSettings {
  return {
    rates: {
      key: read('RATE_LIMIT_KEY'),
      address: read('RATE_LIMIT_ADDRESS'),
      wrongKeys: read('RATE_LIMIT_WRONG_KEYS'),
    },
    requests: { total: read('MAX_REQUESTS'), perKey: read('MAX_REQUESTS_PER_KEY') },
    uploads: { total: read('MAX_UPLOADS'), perKey: read('MAX_UPLOADS_PER_KEY') },
    bodyMemory: read('BODY_MEMORY_BYTES'),
    bodyRate: read('BODY_MIN_RATE'),
    connections: read('MAX_CONNECTIONS'),
    connectionsPerAddress: read('MAX_CONNECTIONS_PER_ADDRESS'),
    cors: read('CORS_ORIGINS'),
    appsCors: read('APPS_CORS_ORIGINS'),
    trustProxy: read('TRUST_PROXY'),
    https: publicUrl?.startsWith('https:') ?? false,
  };
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

function parseRate(text: string): Rate | undefined {
  if (text.toLowerCase() === 'off') return undefined;
  const [, requests = '', unit = ''] = /^(\d{1,9})\/([smh])$/.exec(text) ?? [];
  const rate = { requests: Number(requests), seconds: SECONDS[unit] ?? 0 };
  if (rate.requests > 0) return rate;
  throw new Error(`must be off or a rate such as 100/s, 100/m or 100/h, not ${JSON.stringify(text)}`);
}

const MEBIBYTE = 1024 * 1024;

function parseBytes(text: string): number {
  const bytes = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (bytes >= 16 * MEBIBYTE) return bytes;
  throw new Error(`must be a whole number of bytes from ${16 * MEBIBYTE}, not ${JSON.stringify(text)}`);
}

const NETWORKS = new Set(['loopback', 'linklocal', 'uniquelocal']);

function parseTrustProxy(text: string): number | string[] {
  if (/^[1-9]$/.test(text)) return Number(text);
  const entries = text.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !NETWORKS.has(entry) && isIP(entry) === 0 && !addressBlock(entry));
  if (wrong === undefined) return entries;
  throw new Error(
    `must be the number of proxies (1 to 9) or their addresses, such as loopback,10.0.0.0/8, not ${JSON.stringify(text)}`,
  );
}
