import { type AppUse, type HostedApps, RequestCounter } from '@fairlead/contracts';
import { PeriodicWork } from '@fairlead/schema';
import type { CommandPlace } from '../port/executor';
import { AppFolders, type StartedRevision } from './isolation/app-folders.store';
import { AppLauncher, type Chosen, type Isolation, type Tracing } from './app-launcher';
import type { AllLogs } from './running/app-logs';
import { AppPreviews, deploymentOf, previewName } from './app-previews';
import { AppRunners, type Tell } from './app-runners';
import { AppVisitors } from './app-visitors';
import { Containers } from './containers/containers.client';
import { DiskWatch } from './isolation/disk-watch.worker';
import { KeptApps } from './kept-apps';
import { DEFAULTS, type LocalLimits } from './local-limits';
import { AppCommand, RunningCommands } from './running/app-command';
import type { AppRunner, TakenBack } from './running/app-runner';
import type { Runnable } from './running/serving';

/** Which of these revisions is to run, or `wanted` with its secrets; undefined when none is. */
export type ChooseRevision = (
  revisions: readonly StartedRevision[],
  wanted?: StartedRevision,
) => Promise<Chosen | undefined>;

type TookBack = (taken: TakenBack) => void;

const LONGEST_PAUSE = 60_000;
/** Interval between measurements of the free disk space (ms). */
const DISK_MS = 2000;

export class LocalApps implements HostedApps {
  readonly limits: LocalLimits;
  readonly folders: AppFolders;
  readonly kept: KeptApps;
  readonly previews: AppPreviews;
  readonly launcher: AppLauncher;
  readonly runners: AppRunners;
  readonly disk: DiskWatch;
  readonly visitors = new AppVisitors();
  /** Requests to programs that were not measured yet. */
  readonly requests = new RequestCounter();
  private readonly running = new RunningCommands();
  private choose: ChooseRevision = async () => undefined;
  private tell: Tell = () => undefined;
  private tookBack: TookBack = () => undefined;
  // A folder may be removed while it is looked at: the next look tells.
  private readonly looking = new PeriodicWork(
    () => this.watchDisk(),
    () => undefined,
  );
  private readonly resting = new PeriodicWork(
    () => this.runners.sendToSleep(),
    () => undefined,
  );
  private ended = false;

  /** `root`: folder of the deployments' folders. `hasPages`: browsers see them at hosts of their own. */
  constructor(
    root: string,
    limits: Partial<LocalLimits> = {},
    readonly hasPages = false,
    readonly containers = new Containers(root),
  ) {
    this.limits = { ...DEFAULTS, ...limits };
    this.folders = new AppFolders(root);
    this.kept = new KeptApps(this.folders, this.limits.awake);
    this.previews = new AppPreviews(this.folders, this.kept);
    this.launcher = new AppLauncher(root, this.limits, this.folders, this.kept, containers);
    this.disk = new DiskWatch(root, { ...this.limits.diskWatch, most: this.limits.disk });
    this.runners = new AppRunners(this.limits, this.kept, this.previews, {
      next: (id, wanted) => this.next(id, wanted),
      // The host is that of the active revision.
      tell: (id, ...told) => deploymentOf(id) === id && this.tell(id, ...told),
      tookBack: (taken) => {
        if (this.kept.get(taken.to.deploymentId)) this.kept.putFirst(taken.to);
        this.tookBack(taken);
      },
    });
  }

  /**
   * Finds what earlier processes of the server have started: it starts again when somebody asks for it. `tell` is called
   * when a program has become ready, does not come back, or sleeps, and `tookBack` when one has taken its place back.
   */
  begin(choose: ChooseRevision, tracing: Tracing, tell: Tell, tookBack: TookBack = () => undefined): Isolation {
    [this.choose, this.tell, this.tookBack, this.ended] = [choose, tell, tookBack, false];
    this.kept.begin();
    this.previews.begin();
    const images = [...this.kept.revisions(), ...this.previews.revisions].flatMap(({ image }) => image ?? []);
    images.forEach((image) => this.containers.know(image));
    // Looking for the engine removes the containers that a killed server has left.
    if (images.length > 0) this.containers.engine().catch(() => undefined);
    this.resting.start(Math.min(LONGEST_PAUSE, this.limits.sleepAfter / 4));
    this.looking.start(DISK_MS);
    return this.launcher.begin(tracing);
  }

  /** Starts what never sleeps, as for a request. It is tried again by itself, and its health says why it does not run. */
  startAlwaysOn(): void {
    const ids = this.kept.ids.filter((id) => this.kept.isAlwaysOn(id) && !this.kept.get(id)!.stopped);
    for (const id of ids)
      void this.runners.enter(id).then(
        ({ end }) => end(),
        () => undefined,
      );
  }

  /** Starts a revision in the place of the one that runs. @throws StepFailed, and the one before runs on */
  async activate(chosen: Chosen, signal: AbortSignal): Promise<void> {
    const { revision } = chosen;
    const { deploymentId: id } = revision;
    if (!revision.image) await this.disk.requireSpace();
    const program = await this.launcher.runnable(chosen);
    const before = this.kept.revisions(id);
    const placed = () => {
      this.kept.putFirst(revision, { stopped: false, awake: awakeOf(program) });
      this.kept.claim(id);
    };
    await this.runners.during(id, signal, (runner) => runner.replace(program, signal, placed, before[0]));
    await this.folders.of(id).prune([...new Set(this.kept.revisions(id).map(({ build }) => build))]);
    await this.removeImages(before);
  }

  pathOf(tenantId: string, id: string): string | undefined {
    return this.kept.pathOf(tenantId, id);
  }

  uses(): AppUse[] {
    return this.runners.uses().map((use) => ({ ...use, disk_bytes: this.disk.bytes(use.deployment_id) ?? null }));
  }

  get logged(): AllLogs {
    return this.runners.logged;
  }

  /** Where commands of a deployment run; undefined while none of its revisions can. */
  async commands(id: string): Promise<CommandPlace | undefined> {
    const chosen = this.ended ? undefined : await this.choose(this.kept.revisions(id));
    // It may have been removed meanwhile.
    if (!chosen || this.ended || !this.kept.get(id)) return undefined;
    return new AppCommand(await this.launcher.runnable(chosen), this.disk, this.running);
  }

  /** Starts what was stopped. @throws StepFailed when it does not become ready */
  async start(id: string, signal: AbortSignal): Promise<void> {
    // What is kept says that it was started also when there was no room for it: that is tried again.
    if (this.kept.get(id) && this.runners.of(id).isStopped) await this.restart(id, signal);
  }

  /** Ends a program and starts it again; requests wait. @throws StepFailed when it does not become ready */
  async restart(id: string, signal: AbortSignal): Promise<void> {
    if (!this.kept.change(id, { stopped: false })) return;
    await this.runners.during(id, signal, (runner: AppRunner) => runner.restart(signal));
  }

  /** Ends a program until it is started or deployed, also after a restart of the server. Requests are refused. */
  async stop(id: string): Promise<void> {
    if (!this.kept.change(id, { stopped: true })) return;
    const { revision } = this.previews.get(id) ?? {};
    if (revision) await this.runners.of(previewName(id, revision.revisionId)).sleep();
    await this.runners.of(id).stop();
  }

  /** Ends what answers for a held revision of a deployment. */
  async endPreview(id: string): Promise<void> {
    const { revision } = this.previews.get(id) ?? {};
    // Nothing starts it again from now on.
    if (revision) this.previews.set(id, { revisionId: revision.revisionId });
    if (revision) await this.runners.remove(previewName(id, revision.revisionId), Promise.resolve());
    await this.previews.forget(id);
    if (revision) await this.removeImages([revision]);
  }

  async remove(id: string): Promise<void> {
    await this.endPreview(id);
    const before = this.kept.revisions(id);
    this.kept.forget(id);
    await this.runners.remove(id, this.running.end(id, 'The deployment is being deleted.'));
    await this.folders.remove(id);
    this.disk.forget(id);
    await this.removeImages(before);
  }

  /** Ends everything that runs; it is started again after the next `begin`. */
  async end(): Promise<void> {
    // What is looked at would be made again.
    if (this.ended) return;
    this.ended = true;
    // A look that runs may wait for the disk, and changes nothing any more.
    void this.resting.stop();
    void this.looking.stop();
    await Promise.all([this.runners.stopAll(), this.running.end(undefined, 'The server stops.')]);
    const previewed = this.previews.revisions.map(({ deploymentId }) => deploymentId);
    for (const id of [...this.kept.ids, ...previewed]) this.folders.of(id).killAll();
    this.runners.forgetAll();
    this.folders.end();
    await this.launcher.end();
  }

  async removeImages(before: readonly Pick<StartedRevision, 'build' | 'image'>[]): Promise<void> {
    const used = new Set([...this.kept.revisions(), ...this.previews.revisions].map(({ build }) => build));
    for (const { build, image } of before) if (image && !used.has(build)) await this.containers.removeImage(image);
  }

  private async watchDisk(): Promise<void> {
    const awake = this.runners.awake();
    const folders = new Map(awake.map(([id]) => [id, this.folders.of(id)]));
    for (const { id, why } of await this.disk.look(folders)) {
      for (const [one, runner] of awake) if (one === id) void runner.expel(why);
    }
  }

  private async next(name: string, wanted?: StartedRevision): Promise<Runnable | undefined> {
    const id = deploymentOf(name);
    const preview = this.previews.named(name);
    const revisions = name === id ? this.kept.revisions(id) : preview ? [preview] : [];
    const chosen = this.ended || revisions.length === 0 ? undefined : await this.choose(revisions, wanted);
    if (!chosen) return undefined;
    if (!chosen.revision.image) await this.disk.requireRoom(id, this.folders.of(id));
    const program = await this.launcher.runnable(chosen);
    if (preview) return program;
    const awake = awakeOf(program);
    if ((this.kept.get(id)?.awake ?? 0) !== awake) this.kept.change(id, { awake });
    return program;
  }
}

function awakeOf({ isAlwaysOn, scale }: Runnable): number {
  return isAlwaysOn ? scale : 0;
}
