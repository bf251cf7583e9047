export {
  type Actor,
  allows,
  type Dialect,
  effectiveScopes,
  type Load,
  type RouteAccess,
  Scope,
  SCOPES,
} from './route/access';
export { answerTo, sendProblem, untilClosed, written } from './route/answer';
export { Answers, asText } from './route/answers';
export { Asset, isShared } from './route/asset';
export { takesCoding } from './route/coding';
export { checkReason, CommandContext, Context } from './route/context';
export { Area, areaOf, Describe, type Described, type RequestHeader } from './route/describe';
export { memberAliases, sourceAliases, toWire } from './route/dialects';
export { etag, unlessKnown } from './route/etag';
export { ForEachCaller, Idempotency, Idempotent, spelled, Spelling } from './route/idempotency';
export { warnOfIgnored } from './route/ignored';
export {
  answerPage,
  countedPage,
  counting,
  type Listed,
  linkNext,
  page,
  type Page,
  paging,
  tellTotal,
} from './route/paging';
export {
  Body,
  isJson,
  Path,
  PathMember,
  Query,
  requireJson,
  StrictRoutesGuard,
  validate,
  validateRequest,
} from './route/parameters';
export { credentialsIn, holdsKey, type ProgramActor, PROGRAM_KEY, ProgramKeys } from './route/program-keys';
export { Components } from './reference/components';
export { openApi } from './reference/openapi';
export { ReferenceController } from './reference/reference.controller';
export { keepTable, type Route, routes, RouteTable } from './route/routes';
export { VERSION } from './route/version';
