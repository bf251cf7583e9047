import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

const FOLDER = join(__dirname, 'sdk-recorded');
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const ONE_ID = new RegExp(`^${ID.source}$`);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
/** Members that hold what their user wants: what is in them says nothing about the client. */
const OPAQUE = new Set([
  'inputs',
  'outputs',
  'extra',
  'metadata',
  'serialized',
  'events',
  'correction',
  'usage_metadata',
]);

/** Requests by method and path: their queries and bodies without what differs from run to run, and how they were answered. */
type Recorded = Readonly<Record<string, readonly string[]>>;

/** Hands the requests of clients on to a service, and notes what kinds of requests these are. */
export class Recorder {
  private seen = new Map<string, Set<string>>();
  private readonly server = createServer((request, response) => void this.pass(request, response));

  private constructor(private readonly target: string) {}

  static async start(target: string): Promise<Recorder> {
    const recorder = new Recorder(target);
    await new Promise<void>((resolve) => recorder.server.listen(0, '127.0.0.1', resolve));
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Requests that were noted since the start, or the last call; not those that the service was too busy for. */
  take(): Recorded {
    const { seen } = this;
    this.seen = new Map();
    const sorted = [...seen].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([route, kinds]) => [route, [...kinds].sort()]));
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const { method = '', url = '' } = request;
    // The body goes on as a whole, however it came.
    const headers = { ...request.headers, 'content-length': String(body.length) };
    delete headers['transfer-encoding'];
    const handedOn = send(this.target + url, { method, headers });
    handedOn.on('response', (answer) => {
      const status = answer.statusCode!;
      if (status < 500 && status !== 429) this.note(request, body, status);
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    handedOn.on('error', () => response.destroy());
    handedOn.end(body);
  }

  private note({ method, url, headers }: IncomingMessage, body: Buffer, status: number): void {
    const { pathname, searchParams } = new URL(url!, this.target);
    const route = `${method} ${pathname.replace(/^\/api(\/v1)?(?=\/)/, '').replaceAll(ID, ':id')}`;
    const query = [...new Set(searchParams.keys())].sort();
    const kinds = this.seen.get(route) ?? new Set();
    this.seen.set(route, kinds);
    for (const kind of bodyKinds(headers, body)) {
      kinds.add([...(query.length > 0 ? [`?${query.join('&')}`] : []), ...(kind ? [kind] : []), status].join(' '));
    }
  }
}

/** Recording of this name; with WRITE_RECORDINGS=1 it is written first. */
export function recorded(name: string, now: Recorded): Recorded {
  const path = join(FOLDER, `${name}.json`);
  if (process.env.WRITE_RECORDINGS) writeFileSync(path, `${JSON.stringify(now, null, 2)}\n`);
  return JSON.parse(readFileSync(path, 'utf8')) as Recorded;
}

/** The shape of a body; of several parts the shape of each, since it is by chance which of them are sent together. */
function bodyKinds(headers: IncomingMessage['headers'], body: Buffer): readonly string[] {
  if (body.length === 0) return [''];
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined) return [`${type} ${encoding}`];
  if (type === 'application/json') return [shape(JSON.parse(body.toString()))];
  const parts = [...body.toString('latin1').matchAll(/; name="?([^";\r]+)/g)].map(([, name]) => partName(name!));
  return parts.length === 0 ? [type] : [...new Set(parts)].map((part) => `${type} ${part}`);
}

/** Name of a part without ids, and as `run` alone: it is chance as well whether a run is sent whole or in two parts. */
function partName(name: string): string {
  return name.replaceAll(ID, ':id').replace(/^(post|patch)\./, 'run.');
}

function shape(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${[...new Set(value.map(shape))].sort().join(' | ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    const shapes = members.map(([name, inner]) => {
      const kind = OPAQUE.has(name) && typeof inner === 'object' && inner !== null ? 'object' : shape(inner);
      return `${name}: ${kind}`;
    });
    return `{${shapes.join(', ')}}`;
  }
  if (typeof value !== 'string') return typeof value;
  return ONE_ID.test(value) ? 'id' : TIME.test(value) ? 'time' : 'string';
}
