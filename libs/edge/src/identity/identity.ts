import { hash, randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Actor, Scope } from '@fairlead/api';
import { Unauthorized } from '@fairlead/schema';
import type { IdentityKeys, SigningKeys } from './identity-keys';

/**
 * Header with the statement of a gateway about a request that it forwards: a JWT, valid once, for this service and
 * request.
 */
export const IDENTITY_HEADER = 'x-fairlead-identity';

const ISSUER = 'fairlead-gateway';
const SECONDS = 10;
/** Largest difference between the clocks of two machines (s). */
const TOLERANCE = 15;

interface Claims extends JWTPayload {
  readonly rid: string;
  /** Description of the request: see `bindingOf`. */
  readonly req: string;
  /** SHA-256 of the body; absent when the gateway has not read it. */
  readonly bod?: string;
  readonly tid?: string;
  readonly oid?: string;
  readonly scp?: readonly Scope[];
}

type Bound = Pick<FastifyRequest, 'id' | 'actor' | 'method' | 'originalUrl' | 'headers' | 'readBody'>;

/**
 * Returns the signed identity of a request for one service: its sender, if it needs one, and a description of the
 * request.
 */
export async function issueIdentity(keys: SigningKeys, service: string, request: Bound): Promise<string> {
  const { id, key } = await keys.current();
  const { actor, readBody } = request;
  const who = actor && { tid: actor.tenantId, oid: actor.organizationId, scp: [...actor.scopes] };
  const bod = readBody && { bod: bodyHash(readBody) };
  const token = new SignJWT({ rid: request.id, req: bindingOf(request), ...bod, ...who })
    .setProtectedHeader({ alg: 'EdDSA', kid: id })
    .setIssuer(ISSUER)
    .setAudience(service)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${SECONDS} s`);
  return (actor ? token.setSubject(actor.keyId) : token).sign(key);
}

/**
 * Returns the sender of a request as a gateway signed it; undefined when the request needs none. If the gateway signed
 * a hash of the body, it is stored in the request for the reader of the body.
 * @throws Unauthorized unless a gateway signed the identity, for this service and this request, seconds ago, and it was
 * not used here before.
 */
export async function checkIdentity(
  keys: IdentityKeys,
  service: string,
  request: FastifyRequest,
): Promise<Actor | undefined> {
  const token = request.headers[IDENTITY_HEADER];
  if (typeof token !== 'string') throw new Unauthorized();
  const { rid, req, jti, bod, sub, tid, oid, scp } = await verified(keys, service, token);
  if (rid !== request.id || req !== bindingOf(request)) throw new Unauthorized();
  if (!keys.use(jti!, (SECONDS + TOLERANCE) * 1000)) throw new Unauthorized();
  request.expectedBody = bod;
  if (sub === undefined || tid === undefined || oid === undefined) return undefined;
  return { keyId: sub, tenantId: tid, organizationId: oid, scopes: new Set(scp) };
}

/** Returns the SHA-256 of a body, as a gateway signs it. */
export function bodyHash(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url');
}

/** Returns a description of a request: method, path with query, and type, coding and length of its body. */
function bindingOf({ method, originalUrl, headers }: Bound): string {
  const length = Number(headers['content-length'] ?? 0);
  const comes = method === 'GET' || method === 'HEAD' ? 0 : (headers['transfer-encoding'] ?? length);
  return hash(
    'sha256',
    JSON.stringify([method, originalUrl, headers['content-type'], headers['content-encoding'], comes]),
    'base64url',
  );
}

async function verified(keys: IdentityKeys, service: string, token: string): Promise<Claims> {
  try {
    const { payload } = await jwtVerify<Claims>(token, ({ kid }) => keys.find(kid ?? ''), {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      audience: service,
      requiredClaims: ['exp', 'iat', 'jti', 'rid', 'req'],
      maxTokenAge: SECONDS,
      clockTolerance: TOLERANCE,
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new Unauthorized();
    throw error;
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The whole body, when a gateway has read it before it forwards the request. */
    readBody?: Buffer;
    /** SHA-256 that the body must have, from the identity of the request. */
    expectedBody?: string;
  }
}
