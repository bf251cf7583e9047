import type { Description, Operation, Parameter, Schema } from '../api/description';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface OpenApiOperation {
  readonly summary: string;
  readonly parameters: readonly (Parameter & { readonly in?: string; readonly $ref?: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

const KEPT = ['anyOf', 'oneOf', 'allOf', 'type', 'format', 'enum', 'const', 'minimum', 'maximum', 'items', 'required'];

/**
 * The parts of an OpenAPI document that the command line has to know: options, bodies and their members, no answers.
 */
export function describeApi({ paths, components }: OpenApi): Description {
  const used = new Set<string>();
  const pruned = (schema: Schema): Schema => {
    if (schema.$ref !== undefined) {
      const $ref = schema.$ref.split('/').at(-1)!;
      used.add($ref);
      return { $ref };
    }
    const entries = Object.entries(schema).flatMap(([member, value]): [string, unknown][] => {
      if (member === 'properties') return [[member, mapped(value as Record<string, Schema>, withText)]];
      if (member === 'items') return [[member, pruned(value as Schema)]];
      if (/^(any|one|all)Of$/.test(member)) return [[member, (value as Schema[]).map(pruned)]];
      return KEPT.includes(member) ? [[member, value]] : [];
    });
    return Object.fromEntries(entries);
  };
  const withText = (schema: Schema): Schema => ({
    ...pruned(schema),
    ...(schema.description !== undefined && { description: schema.description }),
  });
  const operations: Record<string, Operation> = {};
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { summary, parameters, requestBody }] of Object.entries(methods)) {
      const query = parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, required, description, schema }) => ({ name, required, description, schema: pruned(schema) }));
      const headers = parameters.flatMap(({ $ref }) => $ref?.split('/').at(-1) ?? []);
      const body = requestBody?.content['application/json']?.schema;
      operations[`${method.toUpperCase()} ${path}`] = {
        summary,
        ...(query.length > 0 && { query }),
        ...(body && { body: pruned(body) }),
        ...(headers.length > 0 && { headers }),
      };
    }
  }
  const schemas: Record<string, Schema> = {};
  for (const name of used) schemas[name] = withText(components.schemas[name]!);
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.parse(JSON.stringify({ operations, schemas: sorted })) as Description;
}

/** The text of the file that holds a description: an operation or a schema a line. */
export function fileText(description: Description): string {
  const parts = Object.entries(description).map(([part, entries]) => {
    const lines = Object.entries(entries as object).map(
      ([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`,
    );
    return `"${part}": {\n${lines.join(',\n')}\n}`;
  });
  return `{\n${parts.join(',\n')}\n}\n`;
}

/** The same without the sentences that only help reads. */
export function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, inner]) => typeof inner !== 'string' || !isText(name));
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutTexts(inner)]));
}

function isText(name: string): boolean {
  return name === 'description' || name === 'summary';
}

function mapped<T>(record: Readonly<Record<string, T>>, change: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
