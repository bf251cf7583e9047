import { IdempotencyKeys1763600000050 } from './1763600000050-idempotency-keys';
import { IdentityKeys1763900000000 } from './1763900000000-identity-keys';

/** The tables of idempotency keys and of the gateways' public keys. */
export const httpMigrations = [IdempotencyKeys1763600000050, IdentityKeys1763900000000];
