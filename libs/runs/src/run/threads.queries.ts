import type { Pool } from 'pg';
import { decodeCursor } from './run-cursor';
import { findRunPage, readRuns } from './runs.queries';
import { threadMessages } from './thread-messages';

const PAGE = 100;
/** Runs and bytes of a thread that are read at most. */
const [MOST_RUNS, MOST_BYTES] = [1000, 16 * 2 ** 20];
const SHOWN = new Set(['inputs', 'outputs']);

interface ThreadMessages {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** False when the thread has more runs than are read. */
  readonly isComplete: boolean;
}

export async function readThread(
  pool: Pool,
  tenantId: string,
  thread: string,
  session?: string,
): Promise<ThreadMessages | undefined> {
  const filters = [`eq(thread_id, ${JSON.stringify(thread)})`];
  const filter = { isRoot: true, filters, session: session === undefined ? undefined : [session] };
  const turns: { inputs: unknown; outputs: unknown }[] = [];
  let bytes = 0;
  let next: string | null | undefined;
  while (next !== null) {
    const cursor = decodeCursor(next);
    const page = await findRunPage(pool, tenantId, filter, { order: 'asc', limit: PAGE, cursor, skipPrevious: true });
    for (const { id, size } of page.keys) {
      bytes += size;
      if (turns.length >= MOST_RUNS || (bytes > MOST_BYTES && turns.length > 0)) {
        return { messages: threadMessages(turns), isComplete: false };
      }
      const [row] = await readRuns(pool, tenantId, [id], SHOWN);
      if (row) turns.push({ inputs: parsed(row.inputs), outputs: parsed(row.outputs) });
    }
    ({ next } = page);
  }
  return turns.length === 0 ? undefined : { messages: threadMessages(turns), isComplete: true };
}

function parsed(text: string | null): unknown {
  return text === null ? null : (JSON.parse(text) as unknown);
}
