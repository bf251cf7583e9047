import type { FastifyRequest } from 'fastify';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { Actor, Scope } from './access';
import { Unauthorized } from './errors';
import type { IdentityKeys, SigningKeys } from './identity.keys';

/** What a gateway says about a request to the service that it forwards it to: a JWT, good for that service and request. */
export const IDENTITY_HEADER = 'x-fairlead-identity';

const ISSUER = 'fairlead-gateway';
const SECONDS = 30;
/** Seconds that two machines' clocks may differ. */
const TOLERANCE = 15;

interface Claims extends JWTPayload {
  readonly rid: string;
  readonly tid?: string;
  readonly oid?: string;
  readonly scp?: readonly Scope[];
}

/** The identity of a request for one service: who sends it, if anybody had to say so, and which request it is. */
export async function issueIdentity(
  keys: SigningKeys,
  service: string,
  actor: Actor | undefined,
  requestId: string,
): Promise<string> {
  const { id, key } = await keys.current();
  const who = actor && { tid: actor.tenantId, oid: actor.organizationId, scp: [...actor.scopes] };
  const token = new SignJWT({ rid: requestId, ...who })
    .setProtectedHeader({ alg: 'EdDSA', kid: id })
    .setIssuer(ISSUER)
    .setAudience(service)
    .setIssuedAt()
    .setExpirationTime(`${SECONDS} s`);
  return (actor ? token.setSubject(actor.keyId) : token).sign(key);
}

/**
 * Who sends a request, by the word of a gateway; undefined where the gateway asked nobody.
 * @throws Unauthorized unless a gateway signed it, for this service, this request, and half a minute ago at most.
 */
export async function checkIdentity(
  keys: IdentityKeys,
  service: string,
  request: FastifyRequest,
): Promise<Actor | undefined> {
  const token = request.headers[IDENTITY_HEADER];
  if (typeof token !== 'string') throw new Unauthorized();
  const { rid, sub, tid, oid, scp } = await verified(keys, service, token);
  if (rid !== request.id) throw new Unauthorized();
  if (sub === undefined || tid === undefined || oid === undefined) return undefined;
  return { keyId: sub, tenantId: tid, organizationId: oid, scopes: new Set(scp) };
}

async function verified(keys: IdentityKeys, service: string, token: string): Promise<Claims> {
  try {
    const { payload } = await jwtVerify<Claims>(token, ({ kid }) => keys.find(kid ?? ''), {
      algorithms: ['EdDSA'],
      issuer: ISSUER,
      audience: service,
      requiredClaims: ['exp', 'iat', 'rid'],
      maxTokenAge: SECONDS,
      clockTolerance: TOLERANCE,
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new Unauthorized();
    throw error;
  }
}
