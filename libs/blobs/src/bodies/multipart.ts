import { isUtf8 } from 'node:buffer';
import { BadRequest } from '@fairlead/schema';

/** One part of a `multipart/form-data` body. The data shares the body's memory. */
export interface Part {
  readonly name: string;
  /** The media type without its parameters, in lower case; empty when the part names none. */
  readonly type: string;
  readonly fileName?: string;
  readonly data: Buffer;
}

/** The body is not well-formed, or has more parts or longer heads than anybody needs. */
export class MalformedMultipart extends BadRequest {
  constructor() {
    super('The body is not well-formed multipart/form-data.');
  }
}

export const MOST_PARTS = 20_000;
export const MOST_HEAD_BYTES = 8 * 1024;
const FORM = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/is;
const NAME = /^content-disposition:\s*form-data\s*;(?:.*;)?\s*name="([^"]*)"/i;
const FILE_NAME = /^content-disposition:\s*form-data\s*;(?:.*;)?\s*filename="([^"]*)"/i;
const TYPE = /^content-type:\s*([^\s;]+)/i;
/** Characters that cannot stand in a quoted name, by the text that forms write instead. */
const ESCAPED: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** The parts of a body (RFC 7578) in their order, at most `most`; bytes stay as they were sent. @throws MalformedMultipart; BadRequest for a name that is not UTF-8 */
export function multipartParts(body: Buffer, contentType: string, most = MOST_PARTS): Part[] {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`);
  const first = delimiter.subarray(2);
  let at = body.subarray(0, first.length).equals(first) ? first.length : after(body, delimiter, 0);
  const parts: Part[] = [];
  while (!(body[at] === 0x2d && body[at + 1] === 0x2d)) {
    const head = after(body, '\r\n', at);
    const end = body.indexOf(delimiter, head - 2);
    if (end === -1 || parts.length === most) throw new MalformedMultipart();
    parts.push(partOf(body.subarray(head, end)));
    at = end + delimiter.length;
  }
  return parts;
}

export function boundaryOf(contentType: string): string {
  const [, quoted, plain] = FORM.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new MalformedMultipart();
  return boundary;
}

function partOf(bytes: Buffer): Part {
  const end = bytes.subarray(0, MOST_HEAD_BYTES).indexOf('\r\n\r\n');
  if (end === -1) throw new MalformedMultipart();
  return { ...headOf(bytes.subarray(0, end)), data: bytes.subarray(end + 4) };
}

/** The headers of a part. @throws MalformedMultipart when they name no part; BadRequest for text that is not UTF-8 */
export function headOf(head: Buffer): Omit<Part, 'data'> {
  const lines = utf8(head, 'The head of a part of the form').split('\r\n');
  const found = (pattern: RegExp) => lines.map((line) => pattern.exec(line)?.[1]).find((value) => value !== undefined);
  const name = found(NAME);
  if (name === undefined) throw new MalformedMultipart();
  const fileName = found(FILE_NAME);
  return {
    name: plain(name),
    ...(fileName && { fileName: plain(fileName) }),
    type: (found(TYPE) ?? '').toLowerCase(),
  };
}

/**
 * Text from bytes of a form. `what` they are begins the sentence of the error, which names the line. Without this check
 * every byte that is no UTF-8 would become U+FFFD. @throws BadRequest
 */
export function utf8(bytes: Buffer, what: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new BadRequest(`${what} is not UTF-8 text (line ${faultyLine(bytes)}): save or send it as UTF-8.`);
}

/** The line, from 1, with the first byte that is no UTF-8; no character of UTF-8 contains the byte of a line feed. */
function faultyLine(bytes: Buffer): number {
  for (let line = 1, start = 0; ; line++) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed === -1 ? bytes.length : feed;
    if (!isUtf8(bytes.subarray(start, end)) || feed === -1) return line;
    start = end + 1;
  }
}

function plain(name: string): string {
  return name.replaceAll(/%22|%0D|%0A/gi, (escape) => ESCAPED[escape.toUpperCase()]!);
}

function after(body: Buffer, sought: string | Buffer, from: number): number {
  const at = body.indexOf(sought, from);
  if (at === -1) throw new MalformedMultipart();
  return at + sought.length;
}
