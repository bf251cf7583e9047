import type { Route } from '@fairlead/api';
import fc from 'fast-check';
import { pathTexts, queryTexts } from './addresses';
import type { Message } from './exchange';
import { nearlyGood } from './good-bodies';
import { hostileJson, mostly } from './hostile';
import { headers } from './odd-headers';
import { type JsonSchema, type Taste, textsOf } from './schema-texts';
import { encodings, uploadSchema } from './upload-bodies';

/** Things that exist, by the path parameter that takes their id. */
export type Ids = Readonly<Record<string, string>>;

export interface Target {
  /** Headers that let a request in; the first are taken most often. */
  readonly logins: readonly (readonly (readonly [string, string])[])[];
  readonly ids: Ids;
  /** Ids of things that may be deleted. */
  readonly expendable: Ids;
}

const UPLOAD = 'POST /api/v1/datasets/upload-experiment';
const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND M-SEARCH REPORT PURGE LINK'.split(' ');

/** Requests to a route, most of them bad in some way. */
export function requestsTo(route: Route, target: Target): fc.Arbitrary<Message> {
  const name = `${route.method} ${route.path}`;
  const { query, body } = name === UPLOAD ? { body: uploadSchema } : schemasOf(route);
  const method = mostly(route.method, fc.constantFrom(...METHODS), 30);
  const tastes = fc.constantFrom(0, 8, 15, 25);
  const oddPaths = mostly(false, fc.constant(true), 5);
  return fc
    .tuple(method, tastes, logins(target), headers, fc.boolean(), oddPaths, fc.boolean())
    .chain(([method, hostile, login, more, chunked, oddPath, brief]) => {
      const ids = method === 'DELETE' ? target.expendable : target.ids;
      const taste: Taste = { hostile, ids };
      const good = nearlyGood(name, ids, hostile > 0);
      // What waits for something to happen is asked to wait either no time or for what does not exist.
      const waits = route.path.endsWith('/wait');
      const search = waits && brief ? fc.constant('?timeout=0') : queryTexts(query, taste);
      const path = pathTexts(route.path, waits && !brief ? {} : ids, oddPath);
      const sent =
        method === 'GET' || method === 'HEAD'
          ? mostly(undefined, bodies(undefined, taste), 10)
          : bodies(body, taste, good);
      return fc.tuple(path, search, sent).chain(([path, search, bytes]) => {
        const message = (content: Buffer | undefined, extra: readonly (readonly [string, string])[]): Message => ({
          method,
          target: path + search,
          headers: [...login, ...extra, ...more],
          body: content,
          chunked: chunked && content !== undefined && content.length < 100_000,
        });
        const type: readonly [string, string] = ['content-type', 'application/json'];
        const typed = more.some(([header]) => header === 'content-type') || !bytes ? [] : [type];
        if (!route.stream || !bytes) return fc.constant(message(bytes, typed));
        const encoded = encodings(bytes).map(([encoding, content]) =>
          message(content, encoding === undefined ? typed : [...typed, ['content-encoding', encoding]]),
        );
        return fc.oneof({ weight: 3, arbitrary: fc.constant(message(bytes, typed)) }, encoded);
      });
    });
}

/** The schemas that a route checks its requests with, as it describes them. */
function schemasOf({ description }: Route) {
  const { query, body } = description ?? {};
  const json = body && 'parse' in body ? body.json : undefined;
  return { query: query?.json as JsonSchema | undefined, body: json as JsonSchema | undefined };
}

function logins({ logins: [first = [], ...others] }: Target): fc.Arbitrary<readonly (readonly [string, string])[]> {
  return mostly(first, fc.constantFrom(...others), 20);
}

const ODD_BODIES = [
  Buffer.alloc(0),
  Buffer.from(' \n '),
  Buffer.from('\ufeff{}'),
  Buffer.from('\ufeff'),
  Buffer.from('{}', 'utf16le'),
  Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
  Buffer.from('{"name":"\xff\xc0\x80"}', 'latin1'),
  Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1'),
  Buffer.from('name=x&source=y'),
  Buffer.from('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'),
  Buffer.from('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'),
  Buffer.alloc(9 * 1024 * 1024, ' '),
];

function bodies(
  schema: JsonSchema | undefined,
  taste: Taste,
  good?: fc.Arbitrary<string>,
): fc.Arbitrary<Buffer | undefined> {
  const made = schema ? textsOf(schema, taste) : hostileJson;
  const fitting = (good ? fc.oneof(made, good) : made).map((text) => Buffer.from(text));
  if (taste.hostile === 0) return fitting;
  const damaged = fc.tuple(fitting, fc.nat(), fc.nat(5)).map(([bytes, place, how]) => damage(bytes, place, how));
  return fc.oneof(
    { weight: 16, arbitrary: fitting },
    { weight: 3, arbitrary: damaged },
    { weight: 3, arbitrary: hostileJson.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.constantFrom(undefined, ...ODD_BODIES) },
  );
}

function damage(bytes: Buffer, place: number, how: number): Buffer {
  const at = bytes.length === 0 ? 0 : place % bytes.length;
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  if (how === 0) return before;
  if (how === 1) return Buffer.concat([Buffer.from('\ufeff'), bytes]);
  if (how === 2) return Buffer.concat([bytes, bytes]);
  const inserted = ['ff', 'eda080', 'c080', '00', 'f4908080'][(place + how) % 5] ?? '';
  return Buffer.concat([before, Buffer.from(inserted, 'hex'), after]);
}
