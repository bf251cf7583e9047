import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ControlAction } from '@fairlead/contracts';
import { runProgram, within } from '../executors/child.process';
import {
  type Assignment,
  Executor,
  type Placed,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
} from '../executors/executor';
import type { ProcessHealth } from '../health/health.answers.schema';
import type { ProgramLine } from '../logs/program-lines';
import type { AppFolder } from './app-folders.store';
import { leastOf, type LocalApps } from './apps.service';
import { NO_ENGINE } from './containers.service';
import { configFile, type ContainerImage, NoRecipe, projectFolder, type Recipe, recipeOf, type Wanted } from './recipe';
import { unpack } from './source-archive.process';

/** How often the size of a folder is looked at while it is built (ms). */
const SIZE_MS = 3000;

/** A container is ready when it answers requests. */
const CONTAINER: Recipe = { build: [], folder: '.', start: '', health: '/ok', langgraph: false };

/** Members of `resource_spec` that change what runs in a cluster, and for which this machine has nothing. */
const OF_PODS = [
  ...['init_containers', 'sidecars', 'volumes', 'volume_mounts', 'service_account_name', 'image_pull_secrets'],
];
/** Variables that the server sets, for what it traces and for all. */
const TRACING = ['LANGSMITH_TRACING', 'LANGSMITH_ENDPOINT', 'LANGSMITH_PROJECT', 'LANGSMITH_API_KEY'];
const ALWAYS = ['PORT', 'LANGCHAIN_REVISION_ID'];

/** Builds uploaded sources and commits of code hosts, and runs them as processes on this machine, and images as containers. */
export class LocalExecutor extends Executor {
  readonly name = 'local';
  override readonly needsCommits = true;

  constructor(readonly programs: LocalApps) {
    super();
  }

  async prepare(): Promise<void> {}

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    const { deploymentId, tenantId, name, config, revision, commit } = assignment;
    const { image_uri } = revision.source_revision_config;
    if (isContainer(revision.source) && image_uri !== undefined) return this.rollOutImage(assignment, image_uri);
    const { source_tarball_path, graph_config_path } = revision.source_revision_config;
    const { install_command, build_command } = config;
    const wanted = { install_command, build_command, graph_config_path };
    const from = revision.source === 'codehost' ? { commit } : { source_tarball_path };
    const build = buildName({ ...from, ...wanted });
    return {
      build: (step) => this.build(assignment, build, wanted, step),
      deploy: async ({ signal, log }) => {
        requireRunnable(assignment);
        const recipe = this.programs.folder(deploymentId).recipe(build);
        if (!recipe) throw new StepFailed('Its build is no longer there: deploy it again.');
        this.requireScale(recipe, revision.resource_spec);
        const secrets = await assignment.secrets();
        const set = Object.keys(this.programs.folder(deploymentId).environment());
        const given = { secrets: secrets.keys(), traced: true, set };
        for (const text of withoutEffect(revision, given)) await log('WARNING', text);
        await log('INFO', `Starts: ${recipe.start}`);
        const started = { deploymentId, tenantId, name, revisionId: revision.revision_id, build, recipe };
        await this.programs.activate({ revision: started, secrets, sizes: revision.resource_spec }, signal);
        await log('INFO', `It is ready at /apps/${deploymentId}/.`);
      },
      close: async () => undefined,
    };
  }

  private rollOutImage(assignment: RevisionAssignment, reference: string): RolloutSteps {
    const { deploymentId, tenantId, name, revision } = assignment;
    const { containers, limits } = this.programs;
    let image: ContainerImage | undefined;
    return {
      pull: async (step) => {
        // Without an engine the revision cannot be deployed, which is said then.
        if (await containers.engine()) image = await containers.pull(reference, limits.disk, step);
      },
      deploy: async ({ signal, log }) => {
        if (!image) throw new StepFailed(NO_ENGINE);
        this.requireScale(CONTAINER, revision.resource_spec);
        requireNoReferences(revision);
        const secrets = await assignment.secrets();
        const given = { secrets: secrets.keys(), traced: await containers.canTrace(image) };
        for (const text of withoutEffect(revision, given)) await log('WARNING', text);
        await log('INFO', `Starts ${image.id}, which should listen at port ${image.port}.`);
        const started = { deploymentId, tenantId, name, revisionId: revision.revision_id, build: image.id };
        const chosen = { revision: { ...started, recipe: CONTAINER, image }, secrets, sizes: revision.resource_spec };
        try {
          await this.programs.activate(chosen, signal);
        } catch (error) {
          // The image of a revision that has failed for good would stay for ever.
          if (error instanceof StepFailed) await this.programs.removeImages([chosen.revision]).catch(() => undefined);
          throw error;
        }
        await log('INFO', `It is ready at /apps/${deploymentId}/.`);
      },
      close: async () => undefined,
    };
  }

  override async inspect({ deploymentId }: Placed): Promise<readonly ProcessHealth[]> {
    return this.programs.inspect(deploymentId);
  }

  override lines(deploymentId: string): readonly ProgramLine[] {
    return this.programs.lines(deploymentId);
  }

  override control({ deploymentId }: RevisionAssignment, action: ControlAction, { signal }: Step): Promise<void> {
    return this.programs[action](deploymentId, signal);
  }

  async remove({ deploymentId }: Assignment): Promise<void> {
    await this.programs.remove(deploymentId);
  }

  /** @throws StepFailed when more processes are wanted than the program, or this machine, can ever have */
  private requireScale({ langgraph }: Recipe, spec: RevisionAssignment['revision']['resource_spec']): void {
    const least = leastOf(spec);
    const { awake: most } = this.programs.limits;
    const because = langgraph
      ? least > 1 && 'there can be one process only: the LangGraph server for development keeps its threads in files'
      : least > most && `not more than ${most} processes run on this machine (LOCAL_AWAKE)`;
    if (because) throw new StepFailed(`min_scale is ${least}, but ${because}.`);
  }

  private async build(assignment: RevisionAssignment, name: string, wanted: Wanted, step: Step): Promise<void> {
    requireRunnable(assignment);
    const folder = this.programs.folder(assignment.deploymentId);
    if (folder.recipe(name)) return step.log('INFO', 'This source has been built before: that build is used.');
    const source = await assignment.source();
    if (!source) throw new StepFailed('Its source cannot be fetched: this server has no access to it.');
    await this.programs.disk.requireSpace();
    await this.emptyCaches(folder, step);
    const path = await folder.emptyBuild(name);
    const repository = assignment.revision.source === 'codehost';
    const { source: most } = this.programs.limits;
    try {
      await unpack(source, path, { most, signal: step.signal, repository, start: folder.start.bind(folder) });
      const recipe = await readRecipe(folder, path, wanted);
      for (const command of recipe.build) await this.run(command, join(path, recipe.folder), folder, step);
      await this.emptyCaches(folder, step);
      folder.completeBuild(name, recipe);
    } catch (error) {
      // What is left of it would count against the next builds.
      await folder.removeBuild(name).catch(() => undefined);
      throw error;
    }
  }

  /** Revisions share what npm and pip have fetched, as long as it takes no more than a quarter of the deployment's limit. */
  private async emptyCaches(folder: AppFolder, { log }: Step): Promise<void> {
    const most = this.programs.limits.disk / 4;
    const bytes = await folder.clearCaches(most);
    if (bytes === undefined) return;
    await log('INFO', `The caches had ${megabytes(bytes)} MB, more than ${megabytes(most)} MB, and were emptied.`);
  }

  /** Runs a command of the build; it fails when the deployment's folder grows beyond its limit. */
  private async run(command: string, cwd: string, folder: AppFolder, step: Step): Promise<void> {
    await step.log('INFO', `$ ${command}`);
    const full = new AbortController();
    const done = new AbortController();
    const watching = this.watch(folder, full, done.signal);
    const started = folder.start(within(cwd, ['/bin/sh', '-c', command]), folder.environment());
    const limit = (pid: number) => this.programs.limitBuild(pid);
    try {
      await runProgram(
        { ...started, cwd: '/', watched: true, limit },
        { ...step, signal: AbortSignal.any([step.signal, full.signal]) },
      );
    } catch (error) {
      if (full.signal.aborted) throw full.signal.reason;
      throw error;
    } finally {
      done.abort();
      await watching;
    }
  }

  private async watch(folder: AppFolder, full: AbortController, done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      await delay(SIZE_MS, undefined, { signal: done }).catch(() => undefined);
      if (done.aborted) return;
      await this.programs.disk.requireSpace().catch((error: unknown) => full.abort(error));
      const bytes = await folder.size();
      const most = this.programs.limits.disk;
      if (bytes <= most) continue;
      const limit = `The files of the deployment have ${megabytes(bytes)} MB, more than its limit of ${megabytes(most)} MB`;
      full.abort(new StepFailed(`${limit}: build less, remove files of its program, or raise LOCAL_DISK_BYTES.`));
    }
  }
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

/** Name of the folder that holds what a source becomes; the same for the same source and commands. */
function buildName(members: object): string {
  return createHash('sha256').update(JSON.stringify(members)).digest('hex').slice(0, 24);
}

function isContainer(source: string): boolean {
  return source === 'external_container' || source === 'internal_container';
}

function requireRunnable({ revision: { source }, commit }: RevisionAssignment): void {
  if (source !== 'internal_source' && source !== 'codehost') {
    throw new StepFailed(`The executor 'local' does not run '${source}'.`);
  }
  if (source === 'codehost' && !commit) throw new StepFailed('The commit of repo_ref is not known.');
}

/** @throws StepFailed for variables that come from a cluster */
function requireNoReferences({ secret_references }: RevisionAssignment['revision']): void {
  if (!secret_references?.length) return;
  throw new StepFailed('secret_references are Secrets of a cluster, which this machine does not have: use secrets.');
}

async function readRecipe(app: AppFolder, path: string, wanted: Wanted): Promise<Recipe> {
  try {
    const folder = join(path, projectFolder(wanted));
    const text = (file: string) => app.text(join(folder, file));
    const [langgraph, packageJson, procfile] = await Promise.all([
      text(configFile(wanted)),
      text('package.json'),
      text('Procfile'),
    ]);
    const files = new Set(await readdir(folder).catch(() => []));
    return recipeOf({ files, langgraph, packageJson, procfile }, wanted);
  } catch (error) {
    throw error instanceof NoRecipe ? new StepFailed(error.message) : error;
  }
}

interface Given {
  readonly secrets: Iterable<string>;
  /** Whether runs are sent to the server. */
  readonly traced: boolean;
  /** Further variables that the server sets. */
  readonly set?: readonly string[];
}

/** Returns sentences about what a revision asks for and does not get on this machine. */
export function withoutEffect(
  { resource_spec }: Pick<RevisionAssignment['revision'], 'resource_spec'>,
  { secrets, traced, set = [] }: Given,
): string[] {
  const spec: Readonly<Record<string, unknown>> = resource_spec ?? {};
  const ours = new Set([...ALWAYS, ...(traced ? TRACING : []), ...set]);
  const hidden = [...secrets].filter((name) => ours.has(name));
  return [
    ...hidden.map((name) => `The secret ${name} has no effect: the server sets this variable.`),
    ...OF_PODS.filter((member) => isGiven(spec[member])).map((member) => `${member} has no effect on this machine.`),
  ];
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
