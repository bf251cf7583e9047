import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Consistency } from './consistency';

interface Reading {
  readonly actor?: { readonly tenantId: string };
  readonly routeOptions: {
    readonly config: { readonly views?: readonly string[]; readonly acrossWorkspaces?: boolean };
  };
}

/** Delays requests of routes that name views, until the views contain what the workspace has written. */
@Injectable()
export class ViewsGuard implements CanActivate {
  constructor(private readonly consistency: Consistency) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (context.getType() !== 'http') return true;
    const { actor, routeOptions } = context.switchToHttp().getRequest<Reading>();
    const { views, acrossWorkspaces } = routeOptions.config;
    if (!views) return true;
    const workspace = acrossWorkspaces ? undefined : actor?.tenantId;
    return this.consistency.upToDate(workspace, views).then(() => true);
  }
}
