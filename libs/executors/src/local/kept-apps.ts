import { spelledAddress } from '@fairlead/contracts';
import { type AppFolders, BUILDS_KEPT, type KeptApp, type StartedRevision } from './isolation/app-folders.store';
import { leastOf, type Sizes } from './isolation/app-sizes';

const SHARE = 0.75;

export class KeptApps {
  private readonly all = new Map<string, KeptApp>();

  constructor(
    private readonly folders: AppFolders,
    private readonly awake: number,
  ) {}

  begin(): void {
    for (const [id, kept] of this.folders.begin()) this.all.set(id, kept);
    for (const [id, { address }] of this.all) if (address === undefined) this.claim(id);
  }

  get ids(): string[] {
    return [...this.all.keys()];
  }

  get(id: string): KeptApp | undefined {
    return this.all.get(id);
  }

  /** Revisions of one deployment, or of all, the newest first. */
  revisions(id?: string): readonly StartedRevision[] {
    if (id === undefined) return [...this.all.values()].flatMap(({ revisions }) => revisions);
    return this.all.get(id)?.revisions ?? [];
  }

  putFirst(revision: StartedRevision, change: Partial<KeptApp> = {}): void {
    const { deploymentId: id, revisionId } = revision;
    const others = this.revisions(id).filter((one) => one.revisionId !== revisionId);
    const revisions = [revision, ...others].slice(0, BUILDS_KEPT);
    this.keep(id, { stopped: false, ...this.all.get(id), ...change, revisions });
  }

  /** Changes what is kept of a deployment. Returns false when nothing is. */
  change(id: string, change: Partial<KeptApp>): boolean {
    const kept = this.all.get(id);
    if (kept) this.keep(id, { ...kept, ...change });
    return kept !== undefined;
  }

  forget(id: string): void {
    this.all.delete(id);
  }

  /** The deployment of the workspace that an address names, by its id or by the address that it has. */
  find(tenantId: string, named: string): string | undefined {
    const own = [...this.all].filter(([, { revisions }]) => revisions[0]!.tenantId === tenantId);
    const byId = own.find(([id]) => id === named);
    return (byId ?? own.find(([, { address }]) => address === named))?.[0];
  }

  named(address: string): { readonly id: string; readonly tenantId: string } | undefined {
    const all = [...this.all].filter(([, kept]) => kept.address === address);
    return all.length === 1 ? { id: all[0]![0], tenantId: all[0]![1].revisions[0]!.tenantId } : undefined;
  }

  pathOf(tenantId: string, id: string): string | undefined {
    const kept = this.all.get(id);
    return kept?.revisions[0]!.tenantId === tenantId ? `/apps/${kept.address ?? id}` : undefined;
  }

  /**
   * Gives a deployment the address that its name spells, unless another one has it. A name that is the address itself
   * takes it from one that only spells it. Nobody else loses an address while it is there, and nobody gets one but here:
   * when a deployment is deployed, or found as an earlier version has kept it.
   */
  claim(id: string): void {
    const kept = this.all.get(id)!;
    const { name, tenantId } = kept.revisions[0]!;
    const address = spelledAddress(name);
    if (address === '' || kept.address === address) return;
    const holder = this.find(tenantId, address);
    const isFree = holder === undefined || (name === address && holder !== address && !this.isNamed(holder, address));
    if (holder !== undefined && isFree) this.change(holder, { address: null });
    if (isFree) this.keep(id, { ...kept, address });
    else if (kept.address !== null) this.keep(id, { ...kept, address: null });
  }

  private isNamed(id: string, name: string): boolean {
    return this.all.get(id)!.revisions[0]!.name === name;
  }

  isAlwaysOn(id: string): boolean {
    return (this.all.get(id)?.awake ?? 0) > 0;
  }

  /** True when a deployment is, or may be, a LangGraph server. */
  mayHaveCrons(id: string): boolean {
    const [newest] = this.revisions(id);
    return newest !== undefined && (newest.recipe.langgraph || newest.image !== undefined);
  }

  /**
   * True when a program with these sizes can run all the time. Three quarters of the places are for such programs, and
   * three quarters of these for those of one workspace, so that the others have places too.
   */
  mayStayAwake({ deploymentId, tenantId }: StartedRevision, sizes: Sizes | undefined): boolean {
    const others = [...this.all].flatMap(([id, kept]) => (id === deploymentId ? [] : kept));
    const awake = (some: readonly KeptApp[]) => some.reduce((sum, { awake = 0 }) => sum + awake, 0);
    const all = Math.max(1, Math.floor(this.awake * SHARE));
    const ofTenant = Math.max(1, Math.floor(all * SHARE));
    const own = others.filter(({ revisions }) => revisions[0]?.tenantId === tenantId);
    const scale = leastOf(sizes);
    return awake(others) + scale <= all && awake(own) + scale <= ofTenant;
  }

  private keep(id: string, kept: KeptApp): void {
    this.all.set(id, kept);
    this.folders.of(id).keep(kept);
  }
}
