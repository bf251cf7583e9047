import { spelledAddress } from '@fairlead/contracts';
import type { AppFolders, StartedRevision } from './isolation/app-folders.store';
import type { KeptApps } from './kept-apps';

interface Preview {
  readonly revisionId: string;
  /** Absent when the revision could not be made to answer. */
  readonly revision?: StartedRevision;
}

const PREVIEW = /^(.+)@([0-9a-f-]{36})$/;

/** Name under which the program of a held revision runs, beside that of its deployment. */
export function previewName(deploymentId: string, revisionId: string): string {
  return `${deploymentId}@${revisionId}`;
}

/** The deployment whose program runs under a name. */
export function deploymentOf(name: string): string {
  return PREVIEW.exec(name)?.[1] ?? name;
}

/** The held revisions that answer on this machine, one of a deployment at most, which outlive its server. */
export class AppPreviews {
  private readonly all = new Map<string, Preview>();

  constructor(
    private readonly folders: AppFolders,
    private readonly kept: KeptApps,
  ) {}

  begin(): void {
    for (const revision of this.folders.previews()) {
      this.all.set(revision.deploymentId, { revisionId: revision.revisionId, revision });
    }
  }

  /** All that answer. */
  get revisions(): StartedRevision[] {
    return [...this.all.values()].flatMap(({ revision }) => revision ?? []);
  }

  get(deploymentId: string): Preview | undefined {
    return this.all.get(deploymentId);
  }

  /** The revision that runs under a name; undefined when the name is that of a deployment, or it has ended. */
  named(name: string): StartedRevision | undefined {
    const { revision } = this.all.get(deploymentOf(name)) ?? {};
    return revision && previewName(revision.deploymentId, revision.revisionId) === name ? revision : undefined;
  }

  /**
   * The revision of the workspace that an address names: by the id of its deployment, by the address that this has, or,
   * before it has one, by its name.
   */
  find(tenantId: string, address: string): StartedRevision | undefined {
    const [, app, revisionId] = PREVIEW.exec(address) ?? [];
    return this.revisions.find((one) => {
      const isOwn = one.tenantId === tenantId && one.revisionId === revisionId;
      return isOwn && (one.deploymentId === app || this.addressOf(one) === app);
    });
  }

  pathOf(deploymentId: string, revisionId: string): string | undefined {
    const { revision } = this.all.get(deploymentId) ?? {};
    return revision?.revisionId === revisionId ? `/apps/${this.addressOf(revision)}@${revisionId}` : undefined;
  }

  set(deploymentId: string, preview: Preview): void {
    this.all.set(deploymentId, preview);
    if (preview.revision) this.folders.of(deploymentId).keepPreview(preview.revision);
  }

  /** Forgets the revision of a deployment and its data, once its program has ended. */
  async forget(deploymentId: string): Promise<void> {
    if (this.all.delete(deploymentId)) await this.folders.of(deploymentId).endPreview();
  }

  /** The address of a deployment that has run; another one gets it by its name, which may be that of several. */
  private addressOf({ deploymentId, name }: StartedRevision): string {
    const { address } = this.kept.get(deploymentId) ?? { address: spelledAddress(name) };
    return address || deploymentId;
  }
}
