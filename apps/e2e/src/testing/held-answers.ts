import { Pool } from 'pg';

/** Tells the parent process which answer would be stored for an Idempotency-Key. The answer is not stored, nor sent. */
export interface HeldAnswer {
  readonly key: string;
  readonly answer: string | null;
}

const query = Reflect.get(Pool.prototype, 'query') as (this: Pool, ...args: unknown[]) => unknown;

// Loaded by Node before a service: its requests with an Idempotency-Key end with the process alone.
Pool.prototype.query = function (this: Pool, ...args: unknown[]) {
  const [text, values] = args as [unknown, unknown[]];
  if (!/^\s*update idempotency_keys set status/.test(String(text))) return query.apply(this, args);
  process.send!({ key: values[1], answer: values[5] });
  return new Promise(() => undefined);
} as typeof Pool.prototype.query;
