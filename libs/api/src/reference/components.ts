import type { JsonSchema } from '@fairlead/schema';

const SCHEMAS = new Set(['items', 'additionalProperties', 'propertyNames', 'contains', 'not']);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const MAPS = new Set(['properties', 'patternProperties']);

/** Collects the schemas of a document that have a title: the document contains each once, under this name. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  /**
   * Returns the schema with references in place of all titled schemas, itself included.
   * @throws Error when two different schemas have the same title.
   */
  refer(schema: JsonSchema): JsonSchema {
    const { title, description, ...rest } = schema;
    if (typeof title !== 'string') return this.within(schema);
    const known = this.schemas[title];
    const found = this.within(rest);
    if (known === undefined) this.schemas[title] = found;
    else if (JSON.stringify(known) !== JSON.stringify(found)) {
      throw new Error(`Two different schemas are called ${title}: give one of them another title.`);
    }
    // A sentence about a member is about its place there.
    return { $ref: `#/components/schemas/${title}`, ...(description !== undefined && { description }) };
  }

  private within(schema: JsonSchema): JsonSchema {
    const entries = Object.entries(schema).map(([keyword, value]) => [keyword, this.referIn(keyword, value)]);
    return Object.fromEntries(entries) as JsonSchema;
  }

  private referIn(keyword: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (SCHEMAS.has(keyword)) return this.refer(value as JsonSchema);
    if (LISTS.has(keyword)) return (value as JsonSchema[]).map((one) => this.refer(one));
    if (!MAPS.has(keyword)) return value;
    return Object.fromEntries(
      Object.entries(value as Record<string, JsonSchema>).map(([name, one]) => [name, this.refer(one)]),
    );
  }
}
