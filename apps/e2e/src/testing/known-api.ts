import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApi } from './contract';

type Json = Readonly<Record<string, unknown>>;
interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
}
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Json;
}

/** Our names for those of the second spelling. */
const SPELLINGS: Readonly<Record<string, string>> = {
  github: 'codehost',
  external_docker: 'external_container',
  internal_docker: 'internal_container',
  langgraph_config_path: 'graph_config_path',
  k8s_namespace: 'cluster_namespace',
  k8s_namespaces: 'cluster_namespaces',
};
const ours = (word: string) => SPELLINGS[word] ?? word.replace(/^redis_/, 'cache_');

/** The operations, members and types that clients know of, and where an OpenAPI document does not keep to them. */
export class KnownApi {
  private readonly operations: readonly string[];
  private readonly shapes: ReadonlyMap<string, readonly Member[]>;
  private readonly faults = new Set<string>();
  private readonly compared = new Set<string>();

  constructor(private readonly document: OpenApi) {
    const text = readFileSync(join(__dirname, 'known-api.txt'), 'utf8');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const isOperation = (line: string) => /^[A-Z]+ \//.test(line);
    this.operations = lines.filter(isOperation);
    const shapes = lines.filter((line) => !isOperation(line)).map((line) => line.split(' '));
    this.shapes = new Map(shapes.map(([name, ...members]) => [name!, members.map(memberOf)]));
  }

  /** A line for each difference: a request that would be refused or not looked at, an answer that would surprise. */
  differences(): string[] {
    this.faults.clear();
    for (const line of this.operations) this.operation(line);
    return [...this.faults].sort();
  }

  private operation(line: string): void {
    const [method = '', path = '', ...parts] = line.split(' ');
    const spelled = path.replace('/forge/github/', '/managed/codehost/').replace('/github/', '/codehost/');
    const operation = this.document.paths[spelled]?.[method.toLowerCase()] as Json | undefined;
    const name = `${method} ${path}`;
    if (!operation) return void this.faults.add(`${name} is not served`);
    const parameters = (operation.parameters as Json[]).map((one) => this.resolved(one) as unknown as Parameter);
    for (const part of parts) {
      if (part.startsWith('?')) {
        const known = memberOf(part.slice(1));
        const found = parameters.find((one) => one.in === 'query' && one.name === known.name);
        if (found) this.taken(`${name} ?${known.name}`, known, found.schema, found.required);
        else this.faults.add(`${name} does not take ?${known.name}`);
      } else if (part.startsWith('<')) {
        const schema = contentOf(this.resolved(operation.requestBody));
        this.compare('in', part.slice(1), part.slice(1), schema);
      } else {
        const [status = '', type] = part.slice(1).split(/:(.*)/);
        const answer = this.resolved((operation.responses as Json)[status]);
        if (Object.keys(answer).length === 0) this.faults.add(`${name} never answers ${status}`);
        else if (type) this.compare('out', `${name} ${status}`, type, contentOf(answer));
      }
    }
  }

  private taken(place: string, known: Member, schema: Json, required = false): void {
    if (required && !known.required) this.faults.add(`${place} is required`);
    // A list can be sent as one value; a list to us can be words with commas between them to clients.
    const isList = this.alternatives(schema).every((one) => one.type === 'array');
    const types = split(known.type).filter((one) => !isList || one.endsWith('[]'));
    if (types.length > 0) this.compare('in', place, types.join('|'), schema);
  }

  private compare(way: 'in' | 'out', place: string, type: string, schema: Json): void {
    const found = this.alternatives(schema);
    const kinds = found.flatMap(kindsOf);
    const known = split(type);
    const knownKinds = known.map((one) => this.kindOf(one));
    const fits = (kind: string, into: readonly string[]) =>
      ['any', kind, ...(kind === 'integer' ? ['number'] : []), ...(kind.startsWith("'") ? ['string'] : [])].some(
        (one) => into.includes(one),
      );
    const [given, taking] = way === 'in' ? [knownKinds, kinds] : [kinds, knownKinds];
    for (const kind of given) {
      if (kind !== 'any' && !fits(kind, taking)) {
        this.faults.add(way === 'in' ? `${place} does not take ${kind}` : `${place} can be ${kind}`);
      }
    }
    for (const one of known) this.inner(way, place, one, found);
  }

  /** The members of an object, the elements of a list. */
  private inner(way: 'in' | 'out', place: string, type: string, found: readonly Json[]): void {
    const shape = this.shapes.get(type);
    const [, of] = /^(.*)(?:\[\]|\{\})$/.exec(type) ?? [];
    if (shape) {
      const objects = found.filter((one) => 'properties' in one);
      if (objects.length > 0) this.members(way, way === 'in' ? type : `${type} (answered)`, shape, objects);
    } else if (of !== undefined) {
      const member = type.endsWith('[]') ? 'items' : 'additionalProperties';
      const elements = found.map((one) => one[member]).filter((one) => Object(one) === one);
      for (const element of elements) this.compare(way, place, of.replace(/^\((.*)\)$/, '$1'), element as Json);
    }
  }

  private members(way: 'in' | 'out', place: string, known: readonly Member[], found: readonly Json[]): void {
    const properties = Object.assign({}, ...found.map(({ properties }) => properties)) as Readonly<
      Record<string, Json>
    >;
    const always = new Set(found.flatMap(({ required }) => (required as string[] | undefined) ?? []));
    for (const { name, required, type } of known) {
      const here = `${place}.${name}`;
      const schema = properties[ours(name)];
      if (!schema) this.faults.add(`${here} is not ${way === 'in' ? 'looked at' : 'answered'}`);
      else {
        const isRequired = always.has(ours(name));
        if (way === 'in' && isRequired && !required) this.faults.add(`${here} is required`);
        if (way === 'out' && required && !isRequired) this.faults.add(`${here} is not always there`);
        if (!this.compared.has(`${way} ${here}`)) {
          this.compared.add(`${way} ${here}`);
          this.compare(way, here, type, schema);
        }
      }
    }
  }

  private kindOf(type: string): string {
    if (type.endsWith('[]')) return 'array';
    if (type.endsWith('{}') || this.shapes.has(type)) return 'object';
    return type.startsWith("'") ? `'${ours(type.slice(1, -1))}'` : type;
  }

  private alternatives(schema: Json): Json[] {
    const one = this.resolved(schema);
    const several = (one.anyOf ?? one.oneOf) as Json[] | undefined;
    if (several) return several.flatMap((each) => this.alternatives(each));
    if (one.allOf) {
      const all = (one.allOf as Json[]).flatMap((each) => this.alternatives(each));
      const properties = Object.assign({}, ...all.map(({ properties }) => properties)) as Json;
      return [{ type: 'object', properties, required: all.flatMap(({ required = [] }) => required as string[]) }];
    }
    return [one];
  }

  private resolved(value: unknown): Json {
    const one = (value ?? {}) as Json;
    if (typeof one.$ref !== 'string') return one;
    const steps = one.$ref.replace(/^#\//, '').split('/');
    return this.resolved(steps.reduce<unknown>((inside, step) => (inside as Json)[step], this.document));
  }
}

function memberOf(text: string): Member {
  const [, name = '', required, type = ''] = /^(\w+)(!?):(.*)$/.exec(text) ?? [];
  return { name, required: required === '!', type };
}

/** The parts of a type between the bars that are in no bracket. */
function split(type: string): string[] {
  return type.match(/(?:\([^)]*\)|[^|])+/g) ?? [];
}

function contentOf({ content = {} }: Json): Json {
  const [first] = Object.values(content as Readonly<Record<string, { schema: Json }>>);
  return (content as Readonly<Record<string, { schema: Json }>>)['application/json']?.schema ?? first?.schema ?? {};
}

function kindsOf(schema: Json): string[] {
  const words = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
  if (words)
    return (words as unknown[]).map((word) =>
      typeof word === 'string' ? `'${word}'` : word === null ? 'null' : typeof word,
    );
  if (Array.isArray(schema.type)) return schema.type as string[];
  if (typeof schema.type === 'string') return [schema.type];
  return ['properties' in schema ? 'object' : 'any'];
}
