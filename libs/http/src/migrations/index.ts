import { IdempotencyKeys1763600000050 } from './1763600000050-idempotency-keys';

/** The table of idempotency keys. */
export const httpMigrations = [IdempotencyKeys1763600000050];
