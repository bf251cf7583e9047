import { Inapplicable } from '../followers/faults';
import { idOf, type Recorded } from './event';

/** What an event says of the thing that it creates. */
interface Created {
  readonly id: string;
  /** The workspace that the thing is of; absent when it has none, or when the event's metadata alone tell it. */
  readonly tenant_id?: string;
}

/**
 * Checks that an event creates the thing of its own stream in its own workspace, because a view writes rows under these
 * ids: no other history may write them.
 * @throws Inapplicable
 */
export function requireOwn({ stream, type, metadata: { tenant } }: Recorded, { id, tenant_id }: Created): void {
  if (id !== idOf(stream)) throw new Inapplicable(`${type} of ${stream} is about another id.`);
  const isForeign = tenant_id !== undefined && tenant !== undefined && tenant_id !== tenant;
  if (isForeign) throw new Inapplicable(`${type} of ${stream} is about another workspace.`);
}
