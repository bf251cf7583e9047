import { join } from 'node:path';
import { within } from '../command/child-process';
import type { AppFolders, Confinement, StartedRevision } from './isolation/app-folders.store';
import { AppPorts } from './isolation/app-ports';
import { AppProcess } from './isolation/app-process';
import { coresOf, leastOf, memoryOf, type Sizes, wantsToStayAwake } from './isolation/app-sizes';
import type { Containers } from './containers/containers.client';
import {
  BUILD_LIMITS,
  type ControlGroup,
  ControlGroups,
  type Controller,
  PROGRAM_PROCESSES,
} from './isolation/control-groups.client';
import type { KeptApps } from './kept-apps';
import type { LocalLimits } from './local-limits';
import type { Runnable } from './running/serving';

interface TracingKey {
  readonly key: string;
  revoke(): void;
}

/**
 * Tracing of the programs of a deployment: the address of the service, their project, and keys for sending runs there.
 */
export type Tracing = (
  revision: StartedRevision,
) => Promise<{ readonly address: string; readonly project: string; issue(): TracingKey } | undefined>;

export interface Chosen {
  readonly revision: StartedRevision;
  readonly secrets: ReadonlyMap<string, string>;
  readonly sizes?: Sizes;
  /** Takes what a rollout says of it while it starts. */
  readonly say?: (text: string) => void;
}

export interface Isolation extends Confinement {
  readonly closed: boolean;
  readonly limited: ReadonlySet<Controller>;
}

/** Makes programs of revisions: with their environment, and isolated as far as this machine can isolate them. */
export class AppLauncher {
  private readonly ports: AppPorts;
  private readonly groups: ControlGroups;
  private tracing: Tracing = async () => undefined;

  constructor(
    root: string,
    private readonly limits: LocalLimits,
    private readonly folders: AppFolders,
    private readonly kept: KeptApps,
    private readonly containers: Containers,
  ) {
    this.ports = new AppPorts(root);
    this.groups = new ControlGroups(root);
  }

  begin(tracing: Tracing): Isolation {
    this.tracing = tracing;
    return { closed: this.ports.begin(), limited: this.groups.begin(), ...this.folders.confine() };
  }

  async end(): Promise<void> {
    await this.containers.end();
    this.ports.end();
    await this.groups.end();
  }

  limitBuild(pid: number): ControlGroup {
    return this.groups.limit(pid, BUILD_LIMITS);
  }

  /** Environment of the commands of a revision; `more` takes precedence over the secrets. */
  environment({ revision, secrets }: Chosen, more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { deploymentId, revisionId, image, build, recipe, isPreview } = revision;
    return {
      ...Object.fromEntries(secrets),
      LANGCHAIN_REVISION_ID: revisionId,
      ...more,
      ...(image === undefined && this.folders.of(deploymentId).environmentOf(build, recipe, isPreview)),
    };
  }

  async runnable(chosen: Chosen): Promise<Runnable> {
    const { revision, sizes, say } = chosen;
    const { deploymentId, revisionId, image, build, recipe } = revision;
    const folder = this.folders.of(deploymentId);
    const traced = image && !(await this.containers.canTrace(image)) ? undefined : await this.tracing(revision);
    const [memory, cores] = [memoryOf(sizes), coresOf(sizes)];
    const common = {
      ...{ revision, folder, say },
      scale: recipe.langgraph || revision.isPreview ? 1 : Math.min(leastOf(sizes), this.limits.awake),
      isAlwaysOn: !revision.isPreview && wantsToStayAwake(sizes) && this.kept.mayStayAwake(revision, sizes),
      guard: (port: number) => this.ports.close(port, folder.user?.uid),
      launch: () => this.launch(chosen, traced),
    };
    if (image) {
      const wanted = {
        ...{ deploymentId, revisionId, image, memory, cores, disk: this.limits.disk },
        ...(traced && { server: traced.address }),
        close: (subnet: string) => this.ports.closeNetwork(subnet),
      };
      return {
        ...common,
        run: (env, what, told) => this.containers.start({ ...wanted, env, ...what }, told),
      };
    }
    const cwd = join(folder.build(build), recipe.folder);
    const limit = (pid: number) => this.groups.limit(pid, { cores, memory, processes: PROGRAM_PROCESSES });
    return {
      ...common,
      run: async (env, { port, command = ['/bin/sh', '-c', recipe.start] }, told) => {
        const started = folder.start(within(cwd, command), {
          ...env,
          ...(port !== undefined && { PORT: String(port) }),
        });
        return new AppProcess({ ...started, port, memory, limit }, told);
      },
    };
  }

  private launch(chosen: Chosen, traced: Awaited<ReturnType<Tracing>>): ReturnType<Runnable['launch']> {
    const issued = traced?.issue();
    const env = this.environment(chosen, {
      ...(traced && {
        LANGSMITH_TRACING: 'true',
        LANGSMITH_ENDPOINT: traced.address,
        LANGSMITH_PROJECT: traced.project,
      }),
      ...(issued && { LANGSMITH_API_KEY: issued.key }),
    });
    const secrets = [...chosen.secrets.values(), ...(issued ? [issued.key] : [])];
    return { env, secrets, ended: () => issued?.revoke() };
  }
}
