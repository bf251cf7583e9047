import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fillCommand, parseCommand, type Placeholder } from '@fairlead/schema';
import { runProgram } from './child-process';
import {
  type Assignment,
  Executor,
  type RevisionAssignment,
  type RolloutSteps,
  type Step,
  StepFailed,
} from '../port/executor';

/** Variables of the service's own environment that every command gets; all others are the service's alone. */
const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'USER'];

/** Commands as an operator sets them, one per phase; a phase without one does nothing. */
export interface CommandSettings {
  readonly build?: string;
  readonly deploy?: string;
  readonly delete?: string;
  /** Further variables of the service that the commands get. */
  readonly passEnv?: readonly string[];
}

/**
 * Runs the operator's commands, each in a directory of its rollout and without a shell. The revision is in the
 * environment; the exit code decides.
 */
export class CommandExecutor extends Executor {
  readonly name = 'command';
  private readonly words: Readonly<Record<'build' | 'deploy' | 'delete', readonly string[] | undefined>>;

  /** @throws CommandProblem for a command that cannot be parsed. */
  constructor(
    settings: CommandSettings,
    private readonly environment: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    super();
    const parse = (text: string | undefined) => (text === undefined ? undefined : parseCommand(text));
    this.words = { build: parse(settings.build), deploy: parse(settings.deploy), delete: parse(settings.delete) };
    this.passed = [...PASSED, ...(settings.passEnv ?? [])];
  }

  private readonly passed: readonly string[];

  rollOut(assignment: RevisionAssignment): RolloutSteps {
    const { build, deploy } = this.words;
    const workspace = new Workspace(assignment, this.own());
    return {
      ...(build && { build: (step: Step) => workspace.run('build', build, step) }),
      deploy: async (step) => {
        if (deploy) await workspace.run('deploy', deploy, step);
        else await step.log('WARNING', 'No command deploys (COMMAND_DEPLOY is not set): nothing was run.');
      },
      close: () => workspace.close(),
    };
  }

  async remove(assignment: Assignment, step: Step): Promise<void> {
    if (!this.words.delete) return;
    const workspace = new Workspace(assignment, this.own());
    try {
      await workspace.run('delete', this.words.delete, step);
    } finally {
      await workspace.close();
    }
  }

  private own(): Record<string, string> {
    const entries = this.passed.map((name) => [name, this.environment[name]] as const);
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }
}

/** A directory for the commands of one rollout, removed at its end. */
class Workspace {
  private directory: string | undefined;
  private secrets: ReadonlyMap<string, string> | undefined;

  constructor(
    private readonly assignment: Assignment | RevisionAssignment,
    private readonly own: Readonly<Record<string, string>>,
  ) {}

  /** Runs the command of a phase. @throws StepFailed */
  async run(phase: 'build' | 'deploy' | 'delete', words: readonly string[], step: Step): Promise<void> {
    this.secrets ??= await this.assignment.secrets();
    this.directory ??= await mkdtemp(join(tmpdir(), 'fairlead-rollout-'));
    const values = await this.values(this.directory, step);
    const env = { ...this.own, ...this.variables(this.directory, phase, values) };
    await runProgram({ words: fillCommand(words, values), cwd: this.directory, env }, step);
  }

  async close(): Promise<void> {
    if (this.directory) await rm(this.directory, { recursive: true, force: true });
  }

  private async values(directory: string, step: Step): Promise<Record<Placeholder, string | undefined>> {
    const { deploymentId: deployment_id, name: deployment_name, config } = this.assignment;
    const base = { deployment_id, deployment_name, repo_url: config.repo_url };
    const none = { revision_id: undefined, image_uri: undefined, repo_ref: undefined, commit_sha: undefined };
    if (!('revision' in this.assignment)) return { ...base, ...none, source_tarball: undefined };
    const { revision, commit } = this.assignment;
    const { image_uri, repo_ref } = revision.source_revision_config;
    return {
      ...base,
      revision_id: revision.revision_id,
      image_uri: image_uri ?? (await builtImage(directory)),
      repo_ref,
      commit_sha: commit ?? undefined,
      source_tarball: await this.tarball(this.assignment, directory, step),
    };
  }

  private async tarball(
    { revision, source }: RevisionAssignment,
    directory: string,
    { signal }: Step,
  ): Promise<string | undefined> {
    if (revision.source_revision_config.source_tarball_path === undefined) return undefined;
    const file = join(directory, 'source.tar.gz');
    if (existsSync(file)) return file;
    const bytes = await source();
    if (!bytes) throw new StepFailed('Nothing was uploaded to source_tarball_path.');
    await pipeline(Readable.from(bytes), createWriteStream(file, { mode: 0o600 }), { signal });
    return file;
  }

  private variables(directory: string, phase: string, values: Record<Placeholder, string | undefined>) {
    const { tenantId, config, deploymentId, name } = this.assignment;
    const revision = 'revision' in this.assignment ? this.assignment.revision : undefined;
    const all: Record<string, string | undefined> = {
      FAIRLEAD_PHASE: phase,
      FAIRLEAD_TENANT_ID: tenantId,
      FAIRLEAD_DEPLOYMENT_ID: deploymentId,
      FAIRLEAD_DEPLOYMENT_NAME: name,
      FAIRLEAD_REVISION_ID: revision?.revision_id,
      FAIRLEAD_SOURCE: revision?.source,
      FAIRLEAD_IMAGE_URI: values.image_uri,
      FAIRLEAD_REPO_URL: config.repo_url,
      FAIRLEAD_REPO_REF: values.repo_ref,
      FAIRLEAD_COMMIT_SHA: values.commit_sha,
      FAIRLEAD_GRAPH_CONFIG_PATH: revision?.source_revision_config.graph_config_path,
      FAIRLEAD_SOURCE_TARBALL: values.source_tarball,
      FAIRLEAD_INSTALL_COMMAND: config.install_command,
      FAIRLEAD_BUILD_COMMAND: config.build_command,
      FAIRLEAD_RESOURCE_SPEC: revision && JSON.stringify(revision.resource_spec ?? {}),
      FAIRLEAD_NAMESPACE: config.listener_config?.cluster_namespace,
      FAIRLEAD_IMAGE_FILE: join(directory, 'image'),
    };
    // A secret's own name could be one that changes what a program does, such as LD_PRELOAD.
    for (const [secret, value] of this.secrets ?? []) all[`FAIRLEAD_SECRET_${secret}`] = value;
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }
}

async function builtImage(directory: string): Promise<string | undefined> {
  const text = await readFile(join(directory, 'image'), 'utf8').catch(() => '');
  return text.trim() || undefined;
}
