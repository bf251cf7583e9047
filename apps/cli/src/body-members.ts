import type { Api } from './api/api';
import { Failure, Usage } from './failure';

interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Document {
  readonly paths?: Readonly<Record<string, { patch?: Operation }>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly requestBody?: { readonly content?: Readonly<Record<string, { schema?: Schema }>> };
}

const PATCH = '/v2/deployments/{deployment_id}';
/** Second names of members that the service takes as well, of which its document says nothing. */
const SECOND_NAMES = /^(?:langgraph_config_path|k8s_namespaces?|redis_\w+|deployment_type)$/;

/**
 * Refuses members that a change of a deployment does not have, by the description that the service gives of itself: it
 * would ignore them, and a slip of the pen would change nothing. `where` names where the members came from. Does nothing
 * where the service gives no such description.
 * @throws Usage
 */
export async function checkMembers(api: Api, body: string, where: string): Promise<void> {
  const document = await described(api);
  const schema = document?.paths?.[PATCH]?.patch?.requestBody?.content?.['application/json']?.schema;
  if (document && schema) check(JSON.parse(body), [schema], document, [], where);
}

async function described(api: Api): Promise<Document | undefined> {
  try {
    return await api.get<Document>('/openapi.json');
  } catch (error) {
    if (error instanceof Failure && error.exitCode !== 1 && error.exitCode !== 5) throw error;
    return undefined;
  }
}

function check(value: unknown, schemas: readonly Schema[], document: Document, path: string[], where: string): void {
  const variants = schemas.flatMap((schema) => resolved(schema, document));
  if (Array.isArray(value)) {
    const items = variants.flatMap(({ items }) => items ?? []);
    for (const element of items.length > 0 ? value : []) check(element, items, document, path, where);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const described = variants.flatMap(({ properties }) => (properties ? [properties] : []));
  // An object of any shape, or no object at all, which the service says itself.
  if (described.length === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    const own = described
      .filter((properties) => Object.hasOwn(properties, name))
      .map((properties) => properties[name]!);
    if (own.length > 0) check(inner, own, document, [...path, name], where);
    else if (!SECOND_NAMES.test(name)) {
      const names = [...new Set(described.flatMap((properties) => Object.keys(properties)))];
      const at = path.length === 0 ? '' : ` in ${path.join('.')}`;
      throw new Usage(
        `${where}: there is no member ${[...path, name].join('.')}. There are${at}: ${names.join(', ')}.`,
      );
    }
  }
}

/** The schemas that a schema stands for. */
function resolved(schema: Schema, document: Document): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema;
  const named = $ref === undefined ? undefined : document.components?.schemas?.[$ref.split('/').at(-1)!];
  return [schema, ...[named ?? [], anyOf, oneOf, allOf].flat().flatMap((inner) => resolved(inner, document))];
}
