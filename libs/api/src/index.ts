export {
  type Actor,
  allows,
  type Dialect,
  effectiveScopes,
  type Load,
  type RouteAccess,
  Scope,
  SCOPES,
} from './access';
export { answerTo, sendProblem, written } from './answer';
export { Answers, asText } from './answers';
export { Asset, isShared } from './asset';
export { takesCoding } from './coding';
export { checkReason, CommandContext, Context } from './context';
export { Area, areaOf, Describe, type Described, type RequestHeader } from './describe';
export { memberAliases, sourceAliases, toWire } from './dialects';
export { etag, unlessKnown } from './etag';
export { ForEachCaller, Idempotency, Idempotent, spelled, Spelling } from './idempotency';
export { warnOfIgnored } from './ignored';
export { countedPage, counting, linkNext, page, paging, tellTotal } from './paging';
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
} from './parameters';
export { credentialsIn, holdsKey, type ProgramActor, PROGRAM_KEY, ProgramKeys } from './program-keys';
export { Components } from './reference/components';
export { openApi } from './reference/openapi';
export { ReferenceController } from './reference/reference.controller';
export { keepTable, type Route, routes, RouteTable } from './routes';
export { VERSION } from './version';
