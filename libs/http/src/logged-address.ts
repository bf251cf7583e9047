/** Names of query parameters that can stand before a secret. */
const SECRET_NAME = /sig|token|code|state|key|secret|pass|auth|cred|nonce|verifier/i;
/** Values that are no secret under any other name: numbers, booleans, uuids, times. */
const PLAIN_VALUE =
  /^(?:-?\d{1,10}|true|false|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]{2,24})?)$/i;
/** A key of our own that somebody put into a path. */
const KEY_IN_PATH = /(?:fl|fairlead)_[0-9A-Za-z_]{16,}/g;
const LONGEST = 512;
const REDACTED = '[redacted]';

/**
 * The address of a request as it may stand in a log: of the query all names, but only values that cannot be secrets.
 * What it held of control characters is left to the log's JSON.
 */
export function loggedAddress(url: string): string {
  const end = url.indexOf('?');
  const path = (end < 0 ? url : url.slice(0, end)).replaceAll(KEY_IN_PATH, REDACTED);
  const query =
    end < 0
      ? ''
      : `?${url
          .slice(end + 1)
          .split('&', 50)
          .map(loggedParameter)
          .join('&')}`;
  return cut(path) + cut(query);
}

function loggedParameter(parameter: string): string {
  const [name, value] = split(parameter);
  // Without a value, the name may be the secret.
  if (value === undefined) return parameter === '' ? '' : REDACTED;
  if (value === '') return `${cut(name)}=`;
  return `${cut(name)}=${PLAIN_VALUE.test(value) && !SECRET_NAME.test(decoded(name)) ? value : REDACTED}`;
}

function split(parameter: string): [string, string | undefined] {
  const equals = parameter.indexOf('=');
  return equals < 0 ? [parameter, undefined] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return 'secret';
  }
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
