import { type ClientRequest, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Unavailable } from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Kind, pathOf, type Reached, requestHeaders, type Through } from './app-headers.client';

/** Time for a program to send `100 Continue` before the body is read anyway (ms). */
const EXPECTED_MS = 1000;
/** Bytes of a body that are read and dropped after its answer, and how long that may take (ms). */
const DROPPED_BYTES = 64 * 1024 ** 2;
const DROPPED_MS = 30_000;
/** Time for a client that sends more to read its response before its connection is closed (ms). */
const LINGER_MS = 2000;

/**
 * Sends a request on through a connection of its own, until its client is gone: a program may close one that is kept at the
 * moment at which it is used again. Answers the response, whose body has yet to be read, also when the program has not
 * read the whole body of the request: the rest is dropped. @throws Unavailable
 */
export function forward(
  { raw, method, url }: FastifyRequest,
  { raw: back }: FastifyReply,
  socket: Socket,
  kind: Kind,
  reached: Reached,
  through?: Through,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      ...{ createConnection: () => socket, method, headers: requestHeaders(raw, kind, reached, through) },
      path: pathOf(url, through),
    });
    const stopPassing = passBody(raw, outgoing, socket);
    const over = () => {
      stopPassing();
      dropRest(raw, back);
    };
    const answered = (answer: IncomingMessage) => {
      answer.once('close', () => {
        over();
        outgoing.destroy();
      });
      settle(answer, resolve, reject);
    };
    outgoing.on('response', answered);
    outgoing.on('upgrade', answered);
    outgoing.on('error', () => {
      over();
      reject(new Unavailable(1, 'The deployment closed the connection.'));
    });
    back.once('close', () => outgoing.destroy());
  });
}

/**
 * Resolves with the response of a program. Rejects with Unavailable for a status that no response to this request can
 * have, which clients could take for the end of HTTP on their connection.
 */
export function settle<T extends IncomingMessage>(
  answer: T,
  resolve: (answer: T) => void,
  reject: (error: Error) => void,
): void {
  const { statusCode = 0 } = answer;
  if (statusCode >= 200 && statusCode <= 599) return resolve(answer);
  answer.socket.destroy();
  reject(new Unavailable(1, `The deployment answered with the status ${statusCode}.`));
}

/**
 * Passes the body of a request on to a program. That of a client that waits for 100 follows when the program has said
 * it. Returns a function that ends it.
 */
function passBody(raw: IncomingMessage, outgoing: ClientRequest, socket: Socket): () => void {
  const { headers } = raw;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const pass = () => void raw.pipe(outgoing);
  const stop = () => void raw.unpipe(outgoing);
  // A program that answers by the headers alone does so before the body comes.
  if (hasBody) outgoing.flushHeaders();
  keepReading(socket, stop);
  if (!hasBody || headers.expect?.toLowerCase() !== '100-continue') {
    pass();
    return stop;
  }
  const late = setTimeout(pass, EXPECTED_MS).unref();
  outgoing.once('continue', () => {
    clearTimeout(late);
    pass();
  });
  return () => {
    clearTimeout(late);
    stop();
  };
}

/**
 * Calls `failed` when a program takes no more of a body, and goes on reading: its answer is often there already, and Node
 * would throw that away with the connection.
 */
function keepReading(socket: Socket, failed: () => void): void {
  const write = socket._write.bind(socket);
  const writeMany = socket._writev?.bind(socket);
  type Done = (error?: Error | null) => void;
  const told = (done: Done) => (error?: Error | null) => {
    if (error) failed();
    done();
  };
  socket._write = (chunk, encoding, done: Done) => write(chunk, encoding, told(done));
  if (writeMany) socket._writev = (chunks, done: Done) => writeMany(chunks, told(done));
}

/** Reads and drops what comes of a body after its answer, so that the connection can be used again, or ends it. */
function dropRest(raw: IncomingMessage, back: ServerResponse): void {
  // Nothing was read of a body that its client has not sent yet: the connection ends with the answer.
  if (raw.complete || raw.readableEnded || raw.destroyed || !back.shouldKeepAlive) return;
  const { socket } = raw;
  let left = DROPPED_BYTES;
  const end = () => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  const tooLong = () => (back.writableFinished ? end() : back.once('finish', end));
  const late = setTimeout(tooLong, DROPPED_MS).unref();
  for (const over of ['end', 'close']) raw.once(over, () => clearTimeout(late));
  raw.on('data', (chunk: Buffer) => {
    const before = left;
    left -= chunk.length;
    if (before >= 0 && left < 0) tooLong();
  });
  raw.on('error', () => undefined);
  raw.resume();
}
