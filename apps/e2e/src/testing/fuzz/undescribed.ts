type Node = Readonly<Record<string, unknown>>;
type Member = Node & { readonly description?: string; readonly type?: string; readonly anyOf?: readonly Node[] };

const REF = '#/components/schemas/';
/** Words that say nothing about a member. */
const EMPTY = new Set(['a', 'an', 'the', 'of', 'this', 'its', 'is', 'it']);

/** Members and parameters that an OpenAPI document does not describe, a sentence each. */
export function undescribed(document: Node): string[] {
  const { components, paths } = document as { components: { schemas: Record<string, Node> }; paths: Node };
  const sent = reachable(Object.values(paths).flatMap(requestsOf), components.schemas);
  const named = Object.entries(components.schemas).flatMap(([name, schema]) => faultsIn(schema, name, !sent.has(name)));
  return [...named, ...faultsIn(paths, '', false)];
}

function requestsOf(path: unknown): unknown[] {
  return Object.values(path as Record<string, Node>).map(({ requestBody, parameters }) => [requestBody, parameters]);
}

/** Names of the schemas that requests are made of: there null is the same as absent. */
function reachable(from: readonly unknown[], schemas: Readonly<Record<string, Node>>): Set<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, one] of Object.entries(value)) {
      if (key !== '$ref' || typeof one !== 'string' || !one.startsWith(REF)) visit(one);
      else if (!found.has(one.slice(REF.length))) {
        found.add(one.slice(REF.length));
        visit(schemas[one.slice(REF.length)]);
      }
    }
  };
  from.forEach(visit);
  return found;
}

function faultsIn(node: unknown, place: string, answered: boolean): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { properties, in: where, name } = node as { properties?: Record<string, Member>; in?: string; name?: string };
  const own = Object.entries(properties ?? {}).flatMap(([member, schema]) => {
    const fault = faultOf(member, schema, answered);
    return fault ? [`${place}.${member} ${fault}`] : [];
  });
  const fault = where !== undefined && name !== undefined && faultOf(name, node as Member, false);
  const parameter = fault ? [`${place}?${name} ${fault}`] : [];
  const below = Object.entries(node).flatMap(([key, one]) => faultsIn(one, `${place}/${key}`, answered));
  return [...own, ...parameter, ...below];
}

function faultOf(name: string, { description, anyOf }: Member, answered: boolean): string | undefined {
  if (!description) return 'has no description';
  const words = (text: string) => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const known = new Set([...words(name), ...EMPTY]);
  if (words(description).every((word) => known.has(word))) return 'has a description that only repeats its name';
  const nullable = anyOf?.some(({ type }) => type === 'null') ?? false;
  return answered && nullable && !/\bnull\b/i.test(description) ? 'does not say what null means' : undefined;
}
