import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

interface Message {
  readonly title: string;
  readonly payload: object;
  readonly traits: readonly { readonly $ref: string }[];
}

/** As far as tests read it. */
export interface AsyncApi {
  readonly channels: Record<string, { readonly address: string; readonly messages: Record<string, unknown> }>;
  readonly components: {
    readonly messages: Record<string, Message>;
    readonly messageTraits: { readonly CloudEvent: { readonly headers: object } };
  };
}

/** asyncapi.yaml. */
export const asyncApi = parse(readFileSync(join(__dirname, '../../asyncapi.yaml'), 'utf8')) as AsyncApi;

const ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
ajv.addSchema({ $id: 'asyncapi', ...asyncApi });
const schemas = new Map<string, ValidateFunction>();

/** What asyncapi.yaml holds against the headers and the payload of a message of this type; empty when nothing. */
export function problemsOf(type: string, headers: unknown, payload: unknown): string[] {
  if (!asyncApi.components.messages[type]) return [`${type} is not described.`];
  return [
    ...errorsIn('messageTraits/CloudEvent/headers', headers).map((error) => `headers${error}`),
    ...errorsIn(`messages/${type}/payload`, payload),
  ];
}

function errorsIn(place: string, value: unknown): string[] {
  const known = schemas.get(place);
  const validate = known ?? ajv.compile({ $ref: `asyncapi#/components/${place}` });
  schemas.set(place, validate);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
