import { same } from '@fairlead/eventing';
import type { Deployment } from './deployment';
import type { DeploymentEvent, SourceConfig } from './deployment-events';

/** Settings that change nothing of what runs; sizes are part of the snapshot. */
const BESIDE = ['deployment_type', 'custom_url', 'build_on_push', 'build_on_push_paths', 'resource_spec'];

/**
 * Learns from the events of a deployment whether a revision was active, and with which settings of the source its program
 * was made. Those are no part of its snapshot, because a change of them makes no revision.
 */
export class RanBefore {
  private config: SourceConfig = {};
  private made: object | undefined;
  private isSettled = false;
  private hasRun = false;

  constructor(private readonly revisionId: string) {}

  /** Takes the next events of the deployment. */
  take(events: readonly DeploymentEvent[]): void {
    for (const { type, data } of events) {
      if (type === 'DeploymentCreated') this.config = data.source_config;
      else if (type === 'DeploymentPatched') this.config = { ...this.config, ...data.source_config };
      else if (type === 'RevisionCreated' && data.revision_id === this.revisionId) {
        this.made = settingsOf(this.config);
        this.isSettled = true;
      } else if (type === 'RevisionActivated' && data.revision_id === this.revisionId) this.hasRun = true;
      // It is not known whether a change before it ran was in time for its build.
      if (this.made && !this.hasRun && !same(this.made, settingsOf(this.config))) this.isSettled = false;
    }
  }

  /** Returns whether the revision was active with the settings that a deployment has now. */
  isWith({ source_config }: Deployment): boolean {
    return this.hasRun && this.isSettled && same(this.made, settingsOf(source_config));
  }
}

function settingsOf(config: SourceConfig): object {
  return Object.fromEntries(
    Object.entries(config).filter(([member, value]) => value !== undefined && !BESIDE.includes(member)),
  );
}
