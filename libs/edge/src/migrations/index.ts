import { IdempotencyKeys1763600000050 } from './1763600000050-idempotency-keys';
import { IdentityKeys1763900000000 } from './1763900000000-identity-keys';
import { CommandIds1764900060000 } from './1764900060000-command-ids';

/** The tables of idempotency keys and of the gateways' public keys. */
export const httpMigrations = [IdempotencyKeys1763600000050, IdentityKeys1763900000000, CommandIds1764900060000];
