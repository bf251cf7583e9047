import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type ControlAction, spelledAddress } from '@fairlead/contracts';
import { CommandFailed, runProgram, within } from '../command/child-process';
import {
  type Assignment,
  type CommandPlace,
  Executor,
  type Measures,
  type Placed,
  type Previews,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
} from '../port/executor';
import type { ProcessHealth } from '../port/process-health.schema';
import type { ProgramLine } from '../port/line-level';
import type { Chosen } from './app-launcher';
import type { AppFolder, StartedRevision } from './isolation/app-folders.store';
import { leastOf, megabytes, wantsToStayAwake } from './isolation/app-sizes';
import { previewName } from './app-previews';
import type { LocalApps } from './local-apps';
import { NO_ENGINE } from './containers/containers.client';
import {
  type BuildPlan,
  type ContainerImage,
  isGiven,
  planOf,
  type Recipe,
  type Wanted,
  withServer,
} from './recipes/recipe';
import { hasWorker } from './recipes/procfile';
import { type Command, NoRecipe } from './recipes/source-tree';
import { unpack } from './source-archive.store';

const LONGEST_SHOWN = 200;

interface BuildPlace {
  readonly folder: AppFolder;
  readonly name: string;
  readonly recipe: Recipe;
  readonly env?: Readonly<Record<string, string>>;
}

const RELEASE_FAILED = 'It is the line "release:" of the Procfile, without which the version does not go live.';

/** A container is ready when it answers requests. */
const CONTAINER: Recipe = { folder: '.', start: '', health: '/ok', langgraph: false };

/** Members of `resource_spec` that change what runs in a cluster, and for which this machine has nothing. */
const OF_PODS = [
  ...['init_containers', 'sidecars', 'volumes', 'volume_mounts', 'service_account_name', 'image_pull_secrets'],
];
const SLEEPS_ALL_THE_SAME =
  'It sleeps while nobody uses it, in spite of min_scale: other programs that never sleep have the places for them (LOCAL_AWAKE).';
const SAME_BUILD =
  'It has the build of a revision that runs or ran before, in which the LangGraph server for development keeps its threads: two of them would lose these.';
const OLD_BUILD = 'An earlier version has built it with a worker that cannot be left out: change the source.';
/** Variables that the server sets, for what it traces and for all. */
const TRACING = ['LANGSMITH_TRACING', 'LANGSMITH_ENDPOINT', 'LANGSMITH_PROJECT', 'LANGSMITH_API_KEY'];
const ALWAYS = ['PORT', 'LANGCHAIN_REVISION_ID'];

/** Builds uploaded sources and commits of code hosts, and runs them as processes on this machine, and images as containers. */
export class LocalExecutor extends Executor {
  readonly name = 'local';
  override readonly needsCommits = true;
  override readonly previews: Previews = {
    begin: (assignment, step) => this.beginPreview(assignment, step),
    end: ({ deploymentId }) => this.programs.endPreview(deploymentId),
    giveUp: (deploymentId, revisionId) => this.programs.previews.set(deploymentId, { revisionId }),
    revisionOf: async ({ deploymentId }) => this.programs.previews.get(deploymentId)?.revisionId,
    pathOf: async ({ deploymentId }, revisionId) => this.programs.previews.pathOf(deploymentId, revisionId),
  };

  constructor(readonly programs: LocalApps) {
    super();
  }

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    const image_uri = imageOf(assignment);
    if (image_uri !== undefined) return this.rollOutImage(assignment, image_uri);
    const { build, wanted } = buildOf(assignment);
    return {
      build: (step) => this.build(assignment, build, wanted, step),
      deploy: async (step) => {
        const { folder, recipe } = this.built(assignment, build);
        const given = { traced: true, set: Object.keys(folder.environmentOf(build, recipe)) };
        await this.deploy(assignment, { build, recipe }, given, `Starts: ${recipe.start}`, step);
      },
    };
  }

  /** The folder of a deployment and the recipe of a build in it. @throws StepFailed */
  private built(assignment: RevisionAssignment, build: string) {
    requireRunnable(assignment);
    const folder = this.programs.folders.of(assignment.deploymentId);
    const recipe = folder.recipe(build);
    if (!recipe) throw new StepFailed('Its build is no longer there: deploy it again.');
    return { folder, recipe };
  }

  private async beginPreview(assignment: RevisionAssignment, step: Step): Promise<string> {
    const { programs } = this;
    const { deploymentId, tenantId, name, revision } = assignment;
    const { revision_id: revisionId } = revision;
    await programs.endPreview(deploymentId);
    programs.previews.set(deploymentId, { revisionId });
    try {
      const program = await this.previewOf(assignment, step);
      step.signal.throwIfAborted();
      const started = { deploymentId, tenantId, name, revisionId, ...program, isPreview: true as const };
      programs.previews.set(deploymentId, { revisionId, revision: started });
      return programs.previews.pathOf(deploymentId, revisionId)!;
    } catch (error) {
      // What can succeed another time begins again.
      if (!(error instanceof StepFailed)) await programs.endPreview(deploymentId);
      throw error;
    }
  }

  /** The program of a revision without what works beside its requests. @throws StepFailed */
  private async previewOf(
    assignment: RevisionAssignment,
    step: Step,
  ): Promise<Pick<StartedRevision, 'build' | 'recipe' | 'image'>> {
    const { containers, limits, kept } = this.programs;
    const reference = imageOf(assignment);
    if (reference !== undefined) {
      requireNoReferences(assignment.revision);
      if (!(await containers.engine())) throw new StepFailed(NO_ENGINE);
      const image = await containers.pull(reference, limits.disk, step);
      return { build: image.id, recipe: CONTAINER, image };
    }
    const { build } = buildOf(assignment);
    const { recipe } = this.built(assignment, build);
    const { web, release, ...rest } = recipe;
    if (recipe.langgraph && kept.revisions(assignment.deploymentId).some((one) => one.build === build)) {
      throw new StepFailed(SAME_BUILD);
    }
    if (web === undefined && hasWorker(recipe.start)) throw new StepFailed(OLD_BUILD);
    const left = [...(web === undefined ? [] : ['worker']), ...(release === undefined ? [] : ['release'])];
    for (const type of left) await step.log('INFO', `The line "${type}:" of the Procfile is not run for it.`);
    return { build, recipe: { ...rest, start: web ?? recipe.start } };
  }

  private readyAt(tenantId: string, id: string, name: string): string {
    const address = spelledAddress(name);
    const holder = address === '' ? undefined : this.programs.kept.find(tenantId, address);
    const isOther = holder !== undefined && holder !== id;
    const why = isOther
      ? ` The address /apps/${address}/ is that of deployment ${holder}, whose name spells it too.`
      : '';
    return `It is ready at ${this.programs.kept.pathOf(tenantId, id)}/.${why}`;
  }

  private rollOutImage(assignment: RevisionAssignment, reference: string): RolloutSteps {
    const { containers, limits } = this.programs;
    let image: ContainerImage | undefined;
    return {
      pull: async (step) => {
        // Without an engine the revision cannot be deployed, which is said then.
        if (await containers.engine()) image = await containers.pull(reference, limits.disk, step);
      },
      deploy: async (step) => {
        if (!image) throw new StepFailed(NO_ENGINE);
        const starts = `Starts ${image.id}, which should listen at port ${image.port}.`;
        const given = { traced: await containers.canTrace(image) };
        await this.deploy(assignment, { build: image.id, recipe: CONTAINER, image }, given, starts, step);
      },
    };
  }

  private async deploy(
    assignment: RevisionAssignment,
    program: Pick<StartedRevision, 'build' | 'recipe' | 'image'>,
    given: Omit<Given, 'secrets'>,
    starts: string,
    step: Step,
  ): Promise<void> {
    const { deploymentId, tenantId, name, revision } = assignment;
    const { build, recipe, image } = program;
    this.requireScale(recipe, revision.resource_spec);
    if (image) requireNoReferences(revision);
    const secrets = await assignment.secrets();
    for (const text of withoutEffect(revision, { ...given, secrets: secrets.keys() })) await step.log('WARNING', text);
    const started = { deploymentId, tenantId, name, revisionId: revision.revision_id, ...program };
    const chosen = { revision: started, secrets, sizes: revision.resource_spec };
    if (recipe.release !== undefined) {
      const folder = this.programs.folders.of(deploymentId);
      const place = { folder, name: build, recipe, env: this.programs.launcher.environment(chosen) };
      await this.run({ run: recipe.release, hint: RELEASE_FAILED }, place, step);
    }
    await step.log('INFO', starts);
    await this.activate(chosen, step);
    await step.log('INFO', this.readyAt(tenantId, deploymentId, name));
  }

  private async activate(chosen: Chosen, { signal, log }: Step): Promise<void> {
    const { revision, sizes } = chosen;
    if (wantsToStayAwake(sizes) && !this.programs.kept.mayStayAwake(revision, sizes))
      await log('WARNING', SLEEPS_ALL_THE_SAME);
    let isStarting = true;
    const say = (text: string) => void (isStarting && log('WARNING', text));
    try {
      await this.programs.activate({ ...chosen, say }, signal);
    } catch (error) {
      // The image of a revision that has failed for good would stay for ever.
      if (error instanceof StepFailed) await this.programs.removeImages([revision]).catch(() => undefined);
      throw error;
    } finally {
      isStarting = false;
    }
  }

  override async inspect({ deploymentId }: Placed): Promise<readonly ProcessHealth[]> {
    return this.programs.runners.inspect(deploymentId);
  }

  override lines(deploymentId: string, previewed?: string): readonly ProgramLine[] {
    const name = previewed === undefined ? deploymentId : previewName(deploymentId, previewed);
    return this.programs.runners.lines(name);
  }

  override measure(): Measures {
    return { requests: this.programs.requests.take(), uses: this.programs.uses() };
  }

  override commands(deploymentId: string): Promise<CommandPlace | undefined> {
    return this.programs.commands(deploymentId);
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
    const folder = this.programs.folders.of(assignment.deploymentId);
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
      const tree = await folder.tree(path);
      const plan = await planned(planOf(tree, wanted));
      for (const text of plan.warnings) await step.log('WARNING', text);
      const env = { ...(await buildSecrets(assignment)), ...folder.environmentOf(name, plan.recipe) };
      const place = { folder, name, recipe: plan.recipe, env };
      for (const command of plan.install) await this.run(command, place, step);
      const { recipe, build } = await planned(withServer(plan, tree));
      for (const command of build) await this.run(command, place, step);
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

  /** Runs a command of the build, and the other one when it fails. @throws StepFailed with the command that has failed */
  private async run(
    { run: command, shown: title = command, otherwise, hint }: Command,
    place: BuildPlace,
    step: Step,
  ): Promise<void> {
    await step.log('INFO', `$ ${title}`);
    try {
      return await this.runCommand(command, place, step);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      if (!otherwise) {
        const shown = title.length > LONGEST_SHOWN ? `${title.slice(0, LONGEST_SHOWN)} …` : title;
        throw new CommandFailed(`The command "${shown}"`, error.how, error.told, hint);
      }
      await step.log('WARNING', otherwise.says);
    }
    if (otherwise.run !== undefined) await this.run({ run: otherwise.run, hint }, place, step);
  }

  /** Runs a command in the folder of a build; it fails when the deployment's folder grows beyond its limit. */
  private async runCommand(command: string, place: BuildPlace, step: Step): Promise<void> {
    const { folder, name, recipe, env = folder.environmentOf(name, recipe) } = place;
    const cwd = join(folder.build(name), recipe.folder);
    const done = new AbortController();
    const full = this.programs.disk.fullOfBuild(folder, done.signal);
    const started = folder.start(within(cwd, ['/bin/sh', '-c', command]), env);
    const limit = (pid: number) => this.programs.launcher.limitBuild(pid);
    try {
      await runProgram(
        { ...started, cwd: '/', watched: true, limit },
        { ...step, signal: AbortSignal.any([step.signal, full]) },
      );
    } catch (error) {
      throw full.aborted ? full.reason : error;
    } finally {
      done.abort();
    }
  }
}

/** Secrets that the commands of a build get. With NODE_ENV, npm would leave out packages that a build needs. */
async function buildSecrets({ secrets }: Assignment): Promise<Record<string, string>> {
  return Object.fromEntries([...(await secrets())].filter(([name]) => name !== 'NODE_ENV'));
}

/** Image that a revision runs; undefined for one that is built. */
function imageOf({ revision: { source, source_revision_config } }: RevisionAssignment): string | undefined {
  return isContainer(source) ? source_revision_config.image_uri : undefined;
}

/** Name of the folder of a revision's build, and what makes it that. */
function buildOf({ config, revision, commit }: RevisionAssignment): { build: string; wanted: Wanted } {
  const { source_tarball_path, graph_config_path } = revision.source_revision_config;
  const { install_command, build_command } = config;
  const wanted = { install_command, build_command, graph_config_path };
  const from = revision.source === 'codehost' ? { commit } : { source_tarball_path };
  return { build: buildName({ ...from, ...wanted }), wanted };
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

/** @throws StepFailed where a source says nothing that can be built */
async function planned(plan: Promise<BuildPlan>): Promise<BuildPlan> {
  try {
    return await plan;
  } catch (error) {
    throw error instanceof NoRecipe ? new StepFailed(error.message) : error;
  }
}

interface Given {
  readonly secrets: Iterable<string>;
  readonly traced: boolean;
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
