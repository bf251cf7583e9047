import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { categoryOf } from '../core/event';
import { EventStore, StreamDeleted } from '../core/event-store';

/** Categories of the streams that a resource stands for; its id is in the path. Others stand beside a resource. */
const RESOURCES: ReadonlySet<string> = new Set([
  ...['apiKey', 'comparativeExperiment', 'dataset', 'deployment', 'experiment', 'integration', 'listener'],
  ...['oauthProvider', 'oauthToken', 'webhook'],
]);

/**
 * Refuses requests about a resource whose stream was deleted or cut off in the event store (409): its read model and
 * what is in memory show a history that no longer exists.
 */
@Injectable()
export class DeletedGuard implements CanActivate {
  constructor(private readonly store: EventStore) {}

  canActivate(context: ExecutionContext): true {
    if (context.getType() !== 'http') return true;
    const { params } = context.switchToHttp().getRequest<{ readonly params?: Readonly<Record<string, string>> }>();
    const deleted = this.store.deletedById();
    if (deleted.size === 0) return true;
    for (const id of Object.values(params ?? {})) {
      const stream = [...(deleted.get(id) ?? [])].find((one) => RESOURCES.has(categoryOf(one)));
      if (stream !== undefined) throw new StreamDeleted(stream);
    }
    return true;
  }
}
