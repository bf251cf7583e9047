export { AllowList, OUR_PREFIX, parseAllowList } from './allow-list';
export { CommandProblem, fillCommand, parseCommand, type Placeholder } from './command-line';
export { errorCode, isConnectionLost } from './connection-lost';
export { datetime, instant, type Instant, timestamp } from './datetime';
export {
  BadRequest,
  Conflict,
  Forbidden,
  GatewayTimeout,
  HttpProblem,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  PreconditionFailed,
  RequestTimeout,
  TooManyRequests,
  Unauthorized,
  Unavailable,
  Unprocessable,
  UnsupportedMediaType,
} from './errors';
export { FairShare, NoPlace } from './fair-share';
export { fixed, requireSame } from './fixed';
export { anyJson, anyObject, dict, rawDict } from './free';
export { MOST_VALUES, parseJson, parseJsonInTurns } from './json';
export { isNamespace, NAMESPACE, NamespaceProblem, Namespaces, parseNamespace, parseNamespaces } from './namespaces';
export { bool, int, num } from './number';
export { empty, member, type Member, object, type ObjectSchema, type Optional, optional } from './object';
export { parseUrl } from './parse-url';
export { PeriodicWork } from './periodic-work';
export { type Loc, type Problem, Problems } from './problem';
export { Recent, weightOf } from './recent';
export { check, type Infer, INVALID, type JsonSchema, note, ParseContext, refine, type Schema, secret } from './schema';
export { oneOf, type Reading, readSetting, setting, whole } from './setting';
export { csv, isObject, list, nothing, nullable, record, union, unused } from './structure';
export { literal, str } from './text';
export { TimeLimit, withTimeLimit } from './time-limit';
export { canonicalUuid, uuid } from './uuid';
export { webUrl } from './web-url';
