import { type IncomingMessage, request } from 'node:http';
import { withTimeLimit } from '@fairlead/schema';
import { ExecutorUnreachable } from '../../port/executor';
import type { EngineKind } from '../recipes/recipe';

/** Time limit for an answer of the engine, unless something is waited for (ms). */
const LIMIT_MS = 60_000;
const PING_MS = 5000;
const LONGEST = 4 * 1024 ** 2;

interface Call {
  readonly body?: object;
  /** The limit on time, which takes the place of a minute. */
  readonly signal?: AbortSignal;
}

/** The engine has answered with an error; the message is its own. */
export class EngineRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A container engine with the API of Docker, which Podman has too, at a socket of this machine. */
export class EngineClient {
  kind: EngineKind = 'docker';

  constructor(private readonly socket: string) {}

  async answers(): Promise<boolean> {
    try {
      const answer = await withTimeLimit(PING_MS, [], (signal) => this.open('GET', '/_ping', { signal }));
      answer.resume();
      this.kind = answer.headers['libpod-api-version'] === undefined ? 'docker' : 'podman';
      return true;
    } catch {
      return false;
    }
  }

  /** The answer, read as JSON where it is. @throws EngineRefused; ExecutorUnreachable when there is none */
  async call(method: string, path: string, call: Call = {}): Promise<unknown> {
    const read = async (own: Call) => parsed(await textOf(await this.open(method, path, own)));
    return call.signal ? read(call) : withTimeLimit(LIMIT_MS, [], (signal) => read({ ...call, signal }));
  }

  /** The answer while it comes. @throws EngineRefused; ExecutorUnreachable when there is none */
  async open(method: string, path: string, { body, signal }: Call): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { socketPath: this.socket, method, path, signal, headers, agent: false as const };
      request(options, resolve)
        .once('error', (cause) => reject(new ExecutorUnreachable('The container engine does not answer.', { cause })))
        .end(text);
    });
    if ((answer.statusCode ?? 500) < 400) return answer;
    const said = parsed(await textOf(answer)) as { message?: string } | undefined;
    throw new EngineRefused(answer.statusCode!, `${said?.message ?? `status ${answer.statusCode}`}`.slice(0, 1000));
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of answer as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > LONGEST) throw new Error('The answer is too long.');
      parts.push(part);
    }
  } catch (cause) {
    throw new ExecutorUnreachable('The container engine broke off its answer.', { cause });
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON values of a stream that holds one a line; what is none is left out. */
export async function* jsonLines(stream: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const part of stream) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop()!.slice(0, LONGEST);
    for (const line of lines) if (line.trim() !== '') yield parsed(line);
  }
  if (rest.trim() !== '') yield parsed(rest);
}
