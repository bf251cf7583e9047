import type { RevisionActivatedMessage } from '@fairlead/contracts';
import { EventStore, streamName } from '@fairlead/eventing';
import { Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';

const KEPT = 1000;

/** The active revision of a deployment as of a version of its stream. */
interface Active {
  readonly version: number;
  readonly id: string | null;
}

/**
 * Reads from the log which revision of a deployment is active: while one is held, another one can become active, such as
 * the one before when a program ends.
 */
@Injectable()
export class ActiveRevisions {
  private readonly known = new Recent<Active>(KEPT);

  constructor(private readonly store: EventStore) {}

  /** The revision that is active now; null when none is. */
  async of(deploymentId: string): Promise<string | null> {
    let { version, id } = this.known.get(deploymentId) ?? { version: 0, id: null };
    for await (const part of this.store.parts(streamName('deployment', deploymentId), version)) {
      for (const event of part) {
        ({ version } = event);
        if (event.type === 'RevisionActivated') id = (event.data as RevisionActivatedMessage).revision_id;
      }
    }
    this.known.set(deploymentId, { version, id });
    return id;
  }
}
