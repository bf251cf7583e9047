import { connect } from 'node:net';

/** One HTTP answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  /** By name in lower case; of a repeated one the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A request as bytes: `target` and header values are Latin-1 text, sent as they are. */
export interface Message {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer;
  /** Sends the body in chunks of unknown total length. */
  readonly chunked?: boolean;
}

/** Longer than the longest wait that a client may ask for, which is 60 s. */
const LONGEST_MS = 75_000;
const QUIET_MS = 150;

/** The answer to one request on a connection of its own. @throws Error when none comes in time, or a damaged one. */
export async function exchange(port: number, message: Message): Promise<Answer> {
  const received = await converse(port, [render(message)], false);
  const [answer, ...more] = parseAnswers(received, message.method === 'HEAD');
  if (!answer) throw new Error('the connection was closed without an answer');
  if (more.length > 0) throw new Error(`${more.length} answers too many`);
  return answer;
}

/**
 * All bytes that the server sends for these pieces until it closes the connection. `leave` ends this side of the
 * connection once nothing has come for a moment. @throws Error when the connection is still open after that.
 */
export function converse(port: number, pieces: readonly Buffer[], leave: boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const chunks: Buffer[] = [];
    let failure: Error | undefined;
    const late = setTimeout(() => {
      failure = new Error(`the connection was still open after ${LONGEST_MS / 1000} s`);
      socket.destroy();
    }, LONGEST_MS);
    const quiet = leave ? setTimeout(() => socket.end(), QUIET_MS) : undefined;
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      quiet?.refresh();
    });
    socket.on('end', () => socket.end());
    // A server that has answered may close while the rest of a refused request is still on its way.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      clearTimeout(quiet);
      if (failure) reject(failure);
      else resolve(Buffer.concat(chunks));
    });
    for (const piece of pieces) socket.write(piece);
  });
}

/** The bytes of a request that asks to close the connection. */
export function render({ method, target, headers, body, chunked }: Message): Buffer {
  const framing: (readonly [string, string])[] = chunked
    ? [['transfer-encoding', 'chunked']]
    : body
      ? [['content-length', String(body.length)]]
      : [];
  const lines = [['host', '127.0.0.1'], ['connection', 'close'], ...framing, ...headers];
  const head = `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  const bytes = body ?? Buffer.alloc(0);
  return Buffer.concat([Buffer.from(head, 'latin1'), ...(chunked ? inChunks(bytes) : [bytes])]);
}

function inChunks(body: Buffer): Buffer[] {
  const size = Math.ceil(body.length / 3) || 1;
  const pieces: Buffer[] = [];
  for (let start = 0; start < body.length; start += size) {
    const piece = body.subarray(start, start + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return [...pieces, Buffer.from('0\r\n\r\n')];
}

/**
 * The answers in a stream of bytes, without those of 1xx. `bodiless`: to HEAD, which a server knows when it could read the
 * head. @throws Error for damaged ones.
 */
export function parseAnswers(bytes: Buffer, bodiless = false): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) throw new Error(`the answer ends in its head: ${bytes.toString('latin1', at, at + 200)}`);
    const [first = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (!status) throw new Error(`this is no status line: ${first.slice(0, 200)}`);
    const headers = new Map(lines.map((line) => splitLine(line)));
    const empty = (bodiless && end + 4 === bytes.length) || status < 200 || status === 204 || status === 304;
    const [body, next] = empty ? ['', end + 4] : readBody(bytes, end + 4, headers);
    if (status >= 200) answers.push({ status, headers, body });
    at = next;
  }
  return answers;
}

function splitLine(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function readBody(bytes: Buffer, start: number, headers: ReadonlyMap<string, string>): [body: string, next: number] {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = headers.get('content-length');
    const end = length === undefined ? bytes.length : start + Number(length);
    if (end > bytes.length) throw new Error('the answer is cut off');
    return [bytes.toString('utf8', start, end), end];
  }
  const pieces: Buffer[] = [];
  for (let at = start; ;) {
    const line = bytes.indexOf('\r\n', at);
    const size = line < 0 ? NaN : parseInt(bytes.toString('latin1', at, line), 16);
    if (Number.isNaN(size) || line + size + 4 > bytes.length) throw new Error('the answer is cut off');
    if (size === 0) return [Buffer.concat(pieces).toString('utf8'), line + 4];
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** Fault of an answer, whatever the request was; undefined when there is none. */
export function faultOf({ status, headers, body }: Answer, bodiless = false): string | undefined {
  if (!headers.get('x-request-id')) return `${status} without x-request-id`;
  const overloaded = (status === 503 || status === 504) && headers.has('retry-after');
  // What is no part of Fairlead, and is not asked for again.
  const leftOut = status === 501 && headers.get('x-should-retry') === 'false';
  if (status >= 500 && !overloaded && !leftOut) return `${status} ${body.slice(0, 300)}`;
  if (bodiless || (status < 400 && body === '')) return undefined;
  const type = headers.get('content-type') ?? '';
  // Exports, metrics, and pages for a browser, of what went wrong too.
  if (status < 400 && /^(?:text\/(?:csv|plain)|application\/jsonl)\b/.test(type)) return undefined;
  if (/^text\/html\b/.test(type)) return undefined;
  if (!/^application\/(?:problem\+)?json(?:; charset=utf-8)?$/.test(type)) return `${status} of type '${type}'`;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return `${status} that is not JSON: ${body.slice(0, 300)}`;
  }
  if (status < 400 || isProblem(value, type, status)) return undefined;
  return `${status} in another shape: ${body.slice(0, 300)}`;
}

function isProblem(value: unknown, type: string, status: number): boolean {
  const { detail, title, errors, ...rest } = Object(value) as Record<string, unknown>;
  if (type.startsWith('application/problem+json')) {
    const complete = typeof detail === 'string' && typeof title === 'string' && rest.status === status;
    return complete && (errors === undefined || (Array.isArray(errors) && errors.length > 0));
  }
  if (typeof detail === 'string') return detail.length > 0;
  const isFinding = (item: unknown) => {
    const { type, loc, msg } = Object(item) as Record<string, unknown>;
    return typeof type === 'string' && Array.isArray(loc) && typeof msg === 'string';
  };
  return status === 422 && Array.isArray(detail) && detail.length > 0 && detail.every(isFinding);
}
