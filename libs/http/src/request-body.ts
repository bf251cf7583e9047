import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PayloadTooLarge, RequestTimeout, Unavailable, UnsupportedMediaType } from './errors';
import { parseJson } from './json';
import type { Departure } from './visit';

/** Limits of requests. */
export interface Limits {
  /** Bytes of a body that is read before the handler runs. */
  readonly body: number;
  /** Levels of nesting in JSON. */
  readonly depth: number;
  /** Milliseconds without a byte after which a body is given up. */
  readonly idle: number;
}

/** Bytes of all bodies in memory at a time. */
class Memory {
  used = 0;

  constructor(private readonly most: number) {}

  /** False when there is no room. */
  take(bytes: number): boolean {
    this.used += bytes;
    return this.used <= this.most;
  }
}

// A body beyond the limit is read and dropped this far, because many clients look for an answer only when all is sent.
const PATIENCE = 16 * 1024 * 1024;
/** All bodies in memory together may be this large, or a few times the largest single one. */
const MEMORY = 256 * 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * Bodies are parsed after authentication. JSON becomes its value, another content type its text, no body undefined.
 * Routes that asked for the stream get `request.raw` unread, and so does the process that a request is forwarded to. When
 * there is no memory for a body: 503. The answer is to be told when a request has ended.
 */
export function readBodies(instance: FastifyInstance, limits: Limits): Departure {
  const memory = new Memory(Math.max(MEMORY, 4 * limits.body));
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (request, _payload, done) => {
    if (request.routeOptions.config.forward === true) {
      done(null, undefined);
      return;
    }
    if (request.routeOptions.config.stream === true) {
      guardIdle(request, limits.idle, () => request.raw.destroy(new RequestTimeout()));
      done(null, undefined);
      return;
    }
    readBody(request, limits, memory).then((body) => {
      done(null, body);
    }, done);
  });
  return (_request, _reply, visit) => {
    memory.used -= visit.heldBytes;
    visit.heldBytes = 0;
  };
}

async function readBody(request: FastifyRequest, limits: Limits, memory: Memory): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new UnsupportedMediaType('This path takes no Content-Encoding.');
  const bytes = await readBytes(request, limits, memory);
  if (bytes.length === 0) return undefined;
  return isJson(request) ? parseJson(bytes, limits.depth) : bytes.toString('utf8');
}

/** Whether the body counts as JSON: its content type says so, or there is none. */
export function isJson({ headers }: FastifyRequest): boolean {
  const type = headers['content-type'];
  return type === undefined || JSON_TYPE.test(type);
}

function readBytes(request: FastifyRequest, limits: Limits, memory: Memory): Promise<Buffer> {
  const { raw } = request;
  const tooLarge = () => new PayloadTooLarge(`The request body is larger than the limit of ${limits.body} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limits.body + PATIENCE) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const guard = guardIdle(request, limits.idle, () => {
      finish(() => {
        reject(new RequestTimeout());
      });
    });
    const finish = (settle: () => void) => {
      guard();
      raw.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limits.body) {
        chunks.push(chunk);
        request.visit.heldBytes += chunk.length;
        if (!memory.take(chunk.length)) finish(() => reject(new Unavailable(1)));
      } else if (size > limits.body + PATIENCE) onEnd();
    };
    const onEnd = () => {
      finish(() => {
        if (size > limits.body) reject(tooLarge());
        else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
      });
    };
    const onClose = () => {
      finish(() => {
        reject(new RequestTimeout('The request ended early.'));
      });
    };
    raw.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}

/**
 * Calls `expire` once no byte of the body has come for `idle` milliseconds while nothing waits to be read here. Answers
 * a function that ends the watch.
 */
function guardIdle(request: FastifyRequest, idle: number, expire: () => void): () => void {
  const { raw } = request;
  if (raw.complete) return () => undefined;
  let seen = raw.socket.bytesRead;
  const timer = setInterval(() => {
    if (raw.complete || raw.destroyed) {
      clearInterval(timer);
    } else if (raw.socket.bytesRead === seen && raw.readableLength === 0) {
      clearInterval(timer);
      expire();
    } else seen = raw.socket.bytesRead;
  }, idle);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
