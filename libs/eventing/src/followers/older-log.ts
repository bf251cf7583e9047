import type { Pool } from 'pg';
import type { Recorded } from '../core/event';
import type { EventStore } from '../core/event-store';
import { Away } from '../core/faults';

export type Witness = Pick<Recorded, 'id' | 'stream' | 'position'>;

/** The log was restored from an older backup than the database. No event is at fault. */
export class OlderLog extends Away {
  constructor(finding: string) {
    super(
      `The log is older than the database: ${finding}. Restore the log that belongs to the database, or stop Fairlead ` +
        'and run `npm run replay -- --from-older-log`, which makes everything again from the log that is there.',
    );
  }
}

interface Row {
  name: string;
  position: string;
  event_id: string | null;
  event_position: string | null;
  event_stream: string | null;
}

/**
 * Compares the log with the checkpoints of all followers: it must reach as far as each of them, and hold the last event
 * that each of them has handled. Checkpoints of earlier versions name no event until they move.
 * @throws OlderLog
 */
export async function requireSameLog(store: EventStore, pool: Pool): Promise<void> {
  // The checkpoints are read before the log, which only grows. Tools may find a table without the newer columns.
  const { rows } = await pool.query<Row>(
    `select name, "position", to_jsonb(c) ->> 'event_id' as event_id,
       to_jsonb(c) ->> 'event_position' as event_position, to_jsonb(c) ->> 'event_stream' as event_stream
     from checkpoints c order by "position" desc`,
  );
  if (rows.length === 0) return;
  const end = await store.end();
  const events = new Map<string, Witness & { name: string }>();
  for (const { name, position, event_id, event_position, event_stream } of rows) {
    const reached = BigInt(event_position ?? position);
    if (reached > end) throw new OlderLog(`it ends at position ${end}, and ${name} has come to position ${reached}`);
    if (event_id !== null) events.set(event_id, { name, id: event_id, stream: event_stream!, position: reached });
  }
  for (const { name, ...witness } of events.values()) {
    if (await holds(store, witness)) continue;
    throw new OlderLog(`at position ${witness.position} it holds another event than the one that ${name} has handled`);
  }
}

/**
 * Returns whether the log contains an event at its position. An event whose stream an operator deleted in the server
 * counts as present.
 */
export async function holds(store: EventStore, { id, stream, position }: Witness): Promise<boolean> {
  if ((await store.at(position))?.id === id) return true;
  return (await store.deletedStreams()).includes(stream);
}
