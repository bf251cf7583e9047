import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { asyncApi } from '../catalogue/asyncapi';

const ajv = addFormats(new Ajv({ strict: false, allErrors: true }));
const document = asyncApi();
ajv.addSchema({ $id: 'asyncapi', ...document });
const schemas = new Map<string, ValidateFunction>();

/**
 * Differences between a message of this type and asyncapi.yaml, in its headers and payload; empty when there are none.
 */
export function problemsOf(type: string, headers: unknown, payload: unknown): string[] {
  if (!document.components.messages[type]) return [`${type} is not described.`];
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
