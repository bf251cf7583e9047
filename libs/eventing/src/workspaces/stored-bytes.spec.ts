import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { QuotaReached } from './quotas';
import { StoredBytes } from './stored-bytes';

const LIMIT = 100;

/** A table of bytes whose answers come late: each is of the moment in which it was asked for, or of a later one. */
class LateTable {
  bytes = 0;

  constructor(private readonly delays: readonly number[]) {}

  private asked = 0;

  async query(): Promise<{ rows: { used: number }[] }> {
    const turns = this.delays[this.asked++ % this.delays.length] ?? 0;
    for (let n = 0; n < turns; n++) await turn();
    const used = this.bytes;
    for (let n = 0; n < turns; n++) await turn();
    return { rows: [{ used }] };
  }
}

it('admits exactly what fits, in the order in which it came, however late the count is', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 });
  const delays = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(sizes, delays, async (all, late) => {
      const table = new LateTable(late);
      const stored = new StoredBytes(table as unknown as Pool, LIMIT);
      const outcomes = await Promise.allSettled(
        all.map((bytes) =>
          stored.within('a', bytes, async () => {
            for (let n = 0; n < bytes % 3; n++) await turn();
            table.bytes += bytes;
          }),
        ),
      );
      expect(table.bytes).toBeLessThanOrEqual(LIMIT);
      // Those that came before the first refusal fit together, so that none of them may be refused.
      let sum = 0;
      for (const [nth, { status }] of outcomes.entries()) {
        sum += all[nth]!;
        if (sum > LIMIT) break;
        expect(status).toBe('fulfilled');
      }
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(QuotaReached);
      }
      await expect(stored.within('a', LIMIT - table.bytes, () => Promise.resolve('there is room'))).resolves.toBe(
        'there is room',
      );
    }),
  );
});
