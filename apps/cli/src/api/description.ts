import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A JSON schema, with the members that the command line reads. */
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly required?: true;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly summary: string;
  readonly query?: readonly Parameter[];
  /** The schema of a JSON body. */
  readonly body?: Schema;
  /** Headers that have a meaning for it. */
  readonly headers?: readonly string[];
}

/** The HTTP API of the service that this command line belongs to: routes by method and path. */
export interface Description {
  readonly operations: Readonly<Record<string, Operation>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

let description: Description | undefined;

/** The description that is part of the package, read once. */
function describedApi(): Description {
  description ??= JSON.parse(readFileSync(join(__dirname, '../../api.json'), 'utf8')) as Description;
  return description;
}

/** The operation of a route such as `GET /v1/webhooks/{webhook_id}`. @throws Error when the API has no such route */
export function operationOf(route: string): Operation {
  const operation = describedApi().operations[route];
  if (!operation) throw new Error(`The API has no route ${route}.`);
  return operation;
}

/** A schema and all schemas that it refers to or chooses from. */
export function variants(schema: Schema): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema;
  const named = $ref === undefined ? [] : [describedApi().schemas[$ref] ?? {}];
  return [schema, ...[...named, ...anyOf, ...oneOf, ...allOf].flatMap(variants)];
}

/** The members of an object by name; undefined for what is no object, or an object of any members. */
export function membersOf(schema: Schema): Record<string, Schema> | undefined {
  const described = variants(schema).flatMap(({ properties }) => (properties ? Object.entries(properties) : []));
  if (described.length === 0) return undefined;
  const members: Record<string, Schema> = {};
  for (const [name, member] of described) {
    const known = Object.hasOwn(members, name) ? members[name] : undefined;
    members[name] = known ? { anyOf: [known, member], description: known.description } : member;
  }
  return members;
}

/** The schema of the items of a list; undefined for what is none. */
export function itemsOf(schema: Schema): Schema | undefined {
  const items = variants(schema).flatMap((variant) => variant.items ?? []);
  return items.length > 1 ? { anyOf: items } : items[0];
}

/** Names of the parts of a path that stand for something. */
export function pathNames(route: string): string[] {
  return [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
