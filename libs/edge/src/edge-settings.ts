import { isIP } from 'node:net';
import { type CorsOrigins, parseCorsOrigins } from './headers/cors';
import type { Capacity } from './admission/in-flight';
import { addressBlock } from '@fairlead/outbound';
import type { Rate } from './admission/rate-limit';

/** Limits for clients and proxies that the server applies before any other work. */
export interface EdgeSettings {
  /** Rate limits; absent ones are off. */
  readonly rates: {
    readonly key?: Rate;
    readonly address?: Rate;
    /** Number of different wrong keys of one address. */
    readonly wrongKeys?: Rate;
  };
  readonly requests: Capacity;
  readonly uploads: Capacity;
  /** Bytes of request bodies in memory together. */
  readonly bodyMemory: number;
  /** Bytes per second at which a body must arrive. */
  readonly bodyRate: number;
  /** Number of connections; further ones are closed at once. */
  readonly connections: number;
  /** Number of connections of one client network, or of one user of this machine; proxies have no limit. */
  readonly connectionsPerAddress: number;
  readonly cors?: CorsOrigins;
  /** The same for the programs of deployments, at /apps; those of `cors` when absent. */
  readonly appsCors?: CorsOrigins;
  /** Proxies in front of the server: their number, or their addresses. Absent: none is trusted. */
  readonly trustProxy?: number | readonly string[];
  /** True when clients reach the service over https. */
  readonly https: boolean;
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

/** Reads one setting; `parse` throws an Error with the rest of a sentence that begins with the setting's name. */
type ReadSetting = <T>(name: string, fallback: T, parse: (text: string) => T) => T;

/** Returns the settings of the edge from `read`. */
export function readEdgeSettings(read: ReadSetting): EdgeSettings {
  const { rates, requests, uploads, connections, connectionsPerAddress, bodyMemory, bodyRate } = EDGE_DEFAULTS;
  const publicUrl = read<string | undefined>('PUBLIC_URL', undefined, String);
  return {
    rates: {
      key: read('RATE_LIMIT_KEY', rates.key, parseRate),
      address: read('RATE_LIMIT_ADDRESS', rates.address, parseRate),
      wrongKeys: read('RATE_LIMIT_WRONG_KEYS', rates.wrongKeys, parseRate),
    },
    requests: {
      total: read('MAX_REQUESTS', requests.total, parseCount),
      perKey: read('MAX_REQUESTS_PER_KEY', requests.perKey, parseCount),
    },
    uploads: {
      total: read('MAX_UPLOADS', uploads.total, parseCount),
      perKey: read('MAX_UPLOADS_PER_KEY', uploads.perKey, parseCount),
    },
    bodyMemory: read('BODY_MEMORY_BYTES', bodyMemory, parseBytes),
    bodyRate: read('BODY_MIN_RATE', bodyRate, parseCount),
    connections: read('MAX_CONNECTIONS', connections, parseCount),
    connectionsPerAddress: read('MAX_CONNECTIONS_PER_ADDRESS', connectionsPerAddress, parseCount),
    cors: read<CorsOrigins | undefined>('CORS_ORIGINS', undefined, parseCorsOrigins),
    appsCors: read<CorsOrigins | undefined>('APPS_CORS_ORIGINS', undefined, parseCorsOrigins),
    trustProxy: read<EdgeSettings['trustProxy']>('TRUST_PROXY', undefined, parseTrustProxy),
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

function parseCount(text: string): number {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new Error(`must be a whole number from 1 to 9999999, not ${JSON.stringify(text)}`);
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
