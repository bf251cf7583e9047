import type { Route } from '@fairlead/api';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

type Json = Readonly<Record<string, unknown>>;
interface Response_ {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Json>>;
  readonly headers?: Json;
}
interface Operation extends Json {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Response_>>;
  readonly parameters?: readonly { readonly $ref?: string; readonly name?: string; readonly in?: string }[];
}
export interface OpenApi extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response_>>; readonly headers: Json } & Json;
}

/** Holds answers against an OpenAPI document. */
export class Contract {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: OpenApi) {
    addFormats(this.ajv);
    this.ajv.addSchema(closed(document), 'openapi');
  }

  /** Every `METHOD path` of the document, paths in the router's spelling. */
  operations(): string[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
  }

  operation({ method, path }: Route): Operation {
    return this.document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]![method.toLowerCase()]!;
  }

  /** True when the route tells of this status. */
  declares(route: Route, status: number): boolean {
    const { responses } = this.operation(route);
    return String(status) in responses || (status >= 500 && '5XX' in responses);
  }

  /** Fault of an answer of a route, undefined when there is none. */
  async faultOf(route: Route, response: Response): Promise<string | undefined> {
    const name = `${route.method} ${route.path}`;
    const text = await response.text();
    const fault = this.fault(route, response, text);
    return fault && `${name} answered ${response.status}: ${fault}\n${text.slice(0, 500)}`;
  }

  private fault(route: Route, { status, headers }: Response, text: string): string | undefined {
    const { responses } = this.operation(route);
    const declared = String(status) in responses ? String(status) : `${String(status).charAt(0)}XX`;
    const found = responses[declared];
    if (!found) return 'this status is not described. Add it to `answers` of its @Describe.';
    const { content, headers: told = {} } = found.$ref
      ? this.document.components.responses[found.$ref.split('/').at(-1)!]!
      : found;
    for (const header of Object.keys(this.document.components.headers)) {
      const sent = headers.has(header) && !(header in told) && (status < 300 || header !== 'ETag');
      if (sent) return `the header ${header} is not described. Add it to \`gives\` (or \`takes\`) of its @Describe.`;
    }
    if (!content)
      return text === '' ? undefined : 'no body is described. Give its schema in `answers` of its @Describe.';
    const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
    if (!(type in content))
      return `the media type '${type}' is not described. Give it as { content: { '${type}': … } }.`;
    if (!/[/+]json$/.test(type)) return undefined;
    const place = found.$ref
      ? found.$ref.slice(1)
      : `/paths/${escape(route.path.replaceAll(/:(\w+)/g, '{$1}'))}/${route.method.toLowerCase()}/responses/${declared}`;
    const validate = this.schemaAt(`${place}/content/${escape(type)}/schema`);
    if (validate(JSON.parse(text))) return undefined;
    const [first] = validate.errors!;
    const detail = JSON.stringify({ ...first!.params });
    return `the body does not fit its schema: at ${first!.instancePath || 'its root'} it ${first!.message} ${detail}`;
  }

  private schemaAt(pointer: string): ValidateFunction {
    const validate = this.compiled.get(pointer) ?? this.ajv.compile({ $ref: `openapi#${encodeURI(pointer)}` });
    this.compiled.set(pointer, validate);
    return validate;
  }
}

/** The document with objects that have exactly their described members: one that is not described is a fault here. */
function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => closed(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, closed(inner as unknown)]);
  const schema = Object.fromEntries(entries) as Json;
  const open = schema.type === 'object' && 'properties' in schema && !('additionalProperties' in schema);
  return (open ? { ...schema, additionalProperties: false } : schema) as T;
}

function escape(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
