import { Inapplicable } from './faults';
import { idOf, type Recorded } from './event';

interface Created {
  readonly id: string;
  /** Its workspace; absent when it has none, or when only the metadata of the event name it. */
  readonly tenant_id?: string;
}

/**
 * Checks that an event creates the thing of its own stream, in its own workspace. Views write rows under these ids, so
 * an event of another stream must not name them. @throws Inapplicable
 */
export function requireOwn({ stream, type, metadata: { tenant } }: Recorded, { id, tenant_id }: Created): void {
  if (id !== idOf(stream)) throw new Inapplicable(`${type} of ${stream} is about another id.`);
  const isForeign = tenant_id !== undefined && tenant !== undefined && tenant_id !== tenant;
  if (isForeign) throw new Inapplicable(`${type} of ${stream} is about another workspace.`);
}
