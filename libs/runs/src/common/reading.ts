import { Readable } from 'node:stream';
import { PathMember } from '@fairlead/api';
import {
  BadRequest,
  HttpProblem,
  int,
  list,
  note,
  NotFound,
  object,
  type ObjectSchema,
  optional,
  type Schema,
  uuid,
} from '@fairlead/schema';
import { isSearchable } from './sql';

export const JSON_TEXT = ['content-type', 'application/json; charset=utf-8'] as const;

/** A list that may be given as a single value, in a query also as a repeated parameter. Commas belong to the value. */
export function oneOrMany<T>(item: Schema<T>): Schema<readonly T[]> {
  const items = list(item);
  return {
    ...items,
    many: true,
    parse: (input, context) => items.parse(typeof input === 'string' ? [input] : input, context),
  };
}

/** Members of a query for a page of a list: `limit` 1 to 100, 100 when absent; `offset` from 0. */
export const pageOf100 = {
  limit: note(optional(int({ ge: 1, le: 100 }), 100), 'Largest number of items in the answer.'),
  offset: note(optional(int({ ge: 0 }), 0), 'Number of items to skip.'),
};

export function idPath<const Name extends string>(name: Name): ObjectSchema<Record<Name, string>> {
  const what = name.replace(/_(id|token)$/, '').replaceAll('_', ' ');
  const one = `${/^[aeio]/.test(what) ? 'an' : 'a'} ${what} of this workspace`;
  const described = note(uuid(), name.endsWith('_token') ? `Token of a shared ${what}.` : `The \`id\` of ${one}.`);
  return object({ [name]: described }) as ObjectSchema<Record<Name, string>>;
}

/** Injects the one id in the path of a route. */
export function Id<const Name extends string>(name: Name) {
  return PathMember(idPath(name), name);
}

export function sent(answer: string | AsyncGenerator<string>): string | Readable {
  return typeof answer === 'string' ? answer : Readable.from(answer);
}

export function found<T>(answer: T | undefined, what: string, id: string): T {
  if (answer === undefined) throw new NotFound(`${what} ${id} not found.`);
  return answer;
}

/** Answer 501 for what clients can ask for and Fairlead does not do. */
export function notOffered(detail: string): HttpProblem {
  return new HttpProblem(501, detail, { headers: { 'x-should-retry': 'false' } });
}

/** JSON text of an object to search for. @throws BadRequest when it is no JSON object, or nested too deep. */
export function searchedObject(name: string, json: string | undefined): string | undefined {
  if (json === undefined || isSearchable(json)) return json;
  throw new BadRequest(`The query parameter ${name} is not a JSON object.`);
}
