/** Names of query parameters that may contain a secret. */
const SECRET_NAME = /sig|token|code|state|key|secret|pass|auth|cred|nonce|verifier/i;
/** Values that cannot be secrets under other names: numbers, booleans, UUIDs, times. */
const PLAIN_VALUE =
  /^(?:-?\d{1,10}|true|false|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]{2,24})?)$/i;
/** The form of parameter names. Anything else may be a value in the place of a name. */
const PLAIN_NAME = /^[a-z][a-z_.$-]{0,39}$/i;
/** An API key in a path. */
const KEY_IN_PATH = /(?:fl|fairlead)_[0-9A-Za-z_]{16,}/g;
/** The token of a share, after `/public/`: whoever has it can read. */
const SHARE_IN_PATH = /(\/public\/)[^/]+/g;
const LONGEST = 512;
const REDACTED = '[redacted]';

/**
 * Returns the address of a request for the log: of the query only names, and values that cannot be secrets. The JSON of
 * the log escapes control characters.
 */
export function loggedAddress(url: string): string {
  const end = url.indexOf('?');
  const path = (end < 0 ? url : url.slice(0, end))
    .replaceAll(KEY_IN_PATH, REDACTED)
    .replaceAll(SHARE_IN_PATH, `$1${REDACTED}`);
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
  if (value === '') return `${REDACTED}=`;
  if (!PLAIN_NAME.test(name)) return `${REDACTED}=${REDACTED}`;
  return `${name}=${PLAIN_VALUE.test(value) && !SECRET_NAME.test(name) ? value : REDACTED}`;
}

function split(parameter: string): [string, string | undefined] {
  const equals = parameter.indexOf('=');
  return equals < 0 ? [parameter, undefined] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
