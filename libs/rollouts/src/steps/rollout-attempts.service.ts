import {
  CodeHostUnreachable,
  CommitResolver,
  isBuilt,
  previewOf,
  type RevisionSpec,
  type RolloutStatus,
  SourceArchives,
} from '@fairlead/contracts';
import { Vault } from '@fairlead/eventing';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { TimeLimit, withTimeLimit } from '@fairlead/schema';
import { type Assignment, Executor, ExecutorUnreachable, isOfRecord, type Step, StepFailed } from '@fairlead/executors';
import { placeDeployment } from '../rollout/host';
import { RolloutLogs, type LogPhase, type RolloutLog } from '../logs/rollout-logs.store';
import { MetricsStore } from '../metrics/metrics.store';
import { hasFinished, holdBack, pause, resolveCommit, type Rollout, startAttempt, stop } from '../rollout/rollout';
import { partlyRecorded } from '../rollout/rollout.errors';
import { RolloutReports, type Seen } from '../rollout/rollout-reports.service';
import { GatedDeployments } from './gated-deployments.store';
import { RolloutsOptions } from './rollouts.options';
import { type Deployed, lackingArtefact, previewProject, previewSecrets } from '../rollout/target';

/** Time limit for resolving a commit (ms). */
const RESOLVE_MS = 90_000;

/** Context of a task: `signal` aborts when the task is not to be done any more. */
export type Hold = Pick<Step, 'signal' | 'waits'>;

/** Works on one task of one deployment, until it is done or `signal` aborts. */
@Injectable()
export class RolloutAttempts {
  constructor(
    private readonly reports: RolloutReports,
    private readonly executor: Executor,
    private readonly vault: Vault,
    private readonly logs: RolloutLogs,
    private readonly metrics: MetricsStore,
    private readonly gated: GatedDeployments,
    private readonly options: RolloutsOptions,
    @Optional() @Inject(CommitResolver) private readonly commits: CommitResolver | null,
    @Optional() @Inject(SourceArchives) private readonly archives: SourceArchives | null,
  ) {}

  /**
   * Makes sure that deployments can be run. One of which something may run already is READY when that runs as it should,
   * which is found out later. @throws ExecutorUnreachable
   */
  async prepare(seen: Seen, mayRun: boolean, hold: Hold): Promise<void> {
    await this.beside(seen, hold, async (assignment, step) => this.executor.prepare?.(assignment, step));
    const { target } = seen;
    if (!mayRun) await this.reports.sayHost(target, { deployment_id: target.id, status: 'READY' });
  }

  /** Ends the running revision when it has waited for its executor until the time limit passed. */
  async giveUp(target: Deployed): Promise<void> {
    if (!target.running) return;
    const { id: revision_id } = target.running;
    const { paused, startedAt, status } = await this.reports.rollout(revision_id);
    if (!paused || !startedAt || Date.parse(startedAt) + this.options.timeLimit > Date.now()) return;
    const failed = status === 'BUILDING' || status === 'AWAITING_BUILD' ? 'BUILD_FAILED' : 'DEPLOY_FAILED';
    const said = { deployment_id: target.id, revision_id, reason: this.limitPassed() };
    await this.reports.say(target, { ...said, status: failed });
  }

  /**
   * Lets a held revision answer at an address of its own, for which it needs no place of a rollout. Its log says where, or
   * why not. @throws ExecutorUnreachable
   */
  async preview(seen: Seen, revision: RevisionSpec, { signal, waits }: Hold): Promise<void> {
    const { target } = seen;
    const log = this.logs.open(target, revision.revision_id);
    try {
      const { commit } = await this.reports.rollout(revision.revision_id);
      const assignment = {
        ...(await this.assignment(seen, previewSecrets(revision), log)),
        ...{ revision, commit: revision.source_revision_config.repo_commit_sha ?? commit },
        source: async () => undefined,
        preview: {
          project: previewProject(target.project, revision.revision_id),
          secrets: previewOf(revision.gates)?.secrets === true,
        },
      };
      const path = await withTimeLimit(this.options.timeLimit, [signal], (late) =>
        this.executor.previews!.begin(assignment, log.step('deploy', late, waits)),
      );
      await log.write('deploy', 'INFO', `It answers at ${path}/ while it waits.`);
    } catch (error) {
      signal.throwIfAborted();
      if (isOfRecord(error) || error instanceof ExecutorUnreachable) throw error;
      this.executor.previews!.giveUp(target.id, revision.revision_id);
      const why = log.safe(messageOf(error));
      await log.write('deploy', 'ERROR', `It does not answer at an address of its own while it waits: ${why}`);
    } finally {
      await log.flush();
    }
  }

  /** Ends what answered for a revision that is held no more. @throws ExecutorUnreachable */
  async endPreview(seen: Seen, hold: Hold): Promise<void> {
    await this.beside(seen, hold, (assignment, step) => this.executor.previews!.end(assignment, step));
  }

  /** Takes everything away. @throws ExecutorUnreachable, also for what may succeed another time */
  async remove(seen: Seen, hold: Hold): Promise<void> {
    const { target } = seen;
    await this.beside(seen, hold, (assignment, step) => this.executor.remove(assignment, step));
    await this.logs.remove(target.tenantId, target.id);
    await this.metrics.remove(target.tenantId, target.id);
    await this.gated.remove(target.tenantId, target.id);
    await this.reports.sayHost(target, { deployment_id: target.id, status: 'REMOVED' });
  }

  /** Asks for a revision to be the running one. */
  async ask(target: Deployed, { revision_id, source }: RevisionSpec): Promise<void> {
    const status = isBuilt(source) ? 'AWAITING_BUILD' : 'AWAITING_DEPLOY';
    await this.reports.say(target, { deployment_id: target.id, revision_id, status });
  }

  /**
   * Takes a revision to a final status, within the time limit. Does nothing when it is there already. When `signal`
   * aborts it ends without a status. @throws ExecutorUnreachable
   */
  async rollOut(seen: Seen, revision: RevisionSpec, { signal, waits }: Hold): Promise<void> {
    const { target } = seen;
    const { revision_id } = revision;
    await this.tellReplaced(target, revision_id);
    // What is ready and held is not made ready again.
    if (target.running?.gated && (await this.reports.rollout(revision_id)).held) return;
    const rollout = await this.reports.decide(target.tenantId, revision_id, startAttempt(target.id));
    if (hasFinished(rollout)) return;
    const log = this.logs.open(target, revision_id);
    const left = Date.parse(rollout.startedAt ?? '') + this.options.timeLimit - Date.now();
    const limit = new TimeLimit(Math.max(0, left), signal);
    const say = async (status: RolloutStatus, reason?: string) => {
      await log.flush();
      const executor = status === 'DEPLOYED' && { executor: this.executor.name };
      await this.reports.say(target, {
        deployment_id: target.id,
        revision_id,
        status,
        ...(reason && { reason }),
        ...executor,
      });
    };
    const run = new Run(log, { signal: limit.signal, waits }, say);
    try {
      if (rollout.attempts > this.options.attempts) {
        throw new StepFailed(`It was begun ${this.options.attempts} times and the service stopped each time.`);
      }
      await this.steps(run, seen, revision, rollout);
    } catch (error) {
      if (signal.aborted) {
        await this.reports.decide(target.tenantId, revision_id, stop);
        return;
      }
      if (isOfRecord(error)) {
        // The attempt does not count, if that can be written already.
        await this.reports.decide(target.tenantId, revision_id, stop).catch(() => undefined);
        throw error;
      }
      if (!limit.hasPassed && error instanceof ExecutorUnreachable) {
        await run.log(run.phase, 'WARNING', `${error.message} It is tried again.`);
        await this.reports.decide(target.tenantId, revision_id, pause(log.safe(error.message)));
        throw error;
      }
      const found = limit.hasPassed && !(error instanceof StepFailed) ? undefined : log.safe(messageOf(error));
      const reason = [limit.hasPassed && this.limitPassed(), found].filter(Boolean).join(' ');
      await run.log(run.phase, 'ERROR', reason);
      await say(run.phase === 'build' ? 'BUILD_FAILED' : 'DEPLOY_FAILED', reason);
    } finally {
      limit.end();
      await log.flush();
    }
  }

  /** Says in the log of the revision that a new one has replaced why it has ended, before the new one first begins. */
  private async tellReplaced(target: Deployed, newer: string): Promise<void> {
    const { replacement } = target;
    if (replacement?.by !== newer || (await this.reports.rollout(newer)).startedAt !== null) return;
    const log = this.logs.open(target, replacement.revision_id);
    await log.write('deploy', 'WARNING', `It was not ready yet when the newer revision ${newer} took its place.`);
    await log.flush();
  }

  private limitPassed(): string {
    return `The time limit of ${this.options.timeLimit / 1000} s has passed.`;
  }

  private async steps(run: Run, seen: Seen, revision: RevisionSpec, rollout: Rollout): Promise<void> {
    const { target } = seen;
    const built = isBuilt(revision.source);
    run.phase = built ? 'build' : 'deploy';
    const { source_tarball_path: path } = revision.source_revision_config;
    const lacking = lackingArtefact(revision);
    if (lacking) throw new StepFailed(`There is nothing to roll out: ${lacking} is not set.`);
    const open = async () => (path ? this.uploaded(target, path) : undefined);
    if (path && this.archives && !(await open())) {
      throw new StepFailed('Nothing was uploaded to source_tarball_path.');
    }
    const commit = await this.commit(run, target, revision, rollout);
    const steps = this.executor.rollOut({
      ...(await this.placed(target, await this.assignment(seen, revision.secrets, run.rolloutLog))),
      revision,
      commit,
      source: path ? open : async () => this.repository(target, commit, run.signal),
    });
    try {
      const prepare = built ? 'build' : 'pull';
      if (steps[prepare]) {
        run.phase = 'build';
        await run.say('BUILDING');
        await steps[prepare](run.step('build'));
        await run.say('AWAITING_DEPLOY');
      }
      run.phase = 'deploy';
      if (target.running?.gated) return await this.hold(run, target, revision);
      await run.say('DEPLOYING');
      await steps.deploy(run.step('deploy'));
      run.signal.throwIfAborted();
    } finally {
      await steps.close?.();
    }
    await this.reports.sayHost(target, { deployment_id: target.id, status: 'READY' });
    await run.say('DEPLOYED');
  }

  /** Leaves a revision that is ready to its gates. */
  private async hold(run: Run, target: Deployed, { revision_id, gates = [] }: RevisionSpec): Promise<void> {
    run.signal.throwIfAborted();
    const names = gates.map(({ name }) => name).join(', ');
    await run.log('deploy', 'INFO', `It is ready and waits for evidence (gates: ${names}).`);
    await run.rolloutLog.flush();
    const held = { deployment_id: target.id, revision_id, gates };
    await this.reports.decide(target.tenantId, revision_id, holdBack(held));
  }

  /** The commit of the revision: the one it names, one that was found before, or the one that its ref stands for now. */
  private async commit(
    run: Run,
    target: Deployed,
    { revision_id, source, source_revision_config }: RevisionSpec,
    rollout: Rollout,
  ): Promise<string | null> {
    const { repo_ref, repo_commit_sha } = source_revision_config;
    const { integration_id, repo_url } = target.config;
    const known = repo_commit_sha ?? rollout.commit;
    if (known || source !== 'codehost' || !repo_ref || !repo_url || !integration_id || !this.commits) return known;
    try {
      const resolving = partlyRecorded(this.commits.resolve(target.tenantId, integration_id, repo_url, repo_ref));
      const sha = await withTimeLimit(RESOLVE_MS, [run.signal], (late) => Promise.race([resolving, aborted(late)]));
      const found = { deployment_id: target.id, revision_id, repo_commit_sha: sha };
      await this.reports.decide(target.tenantId, revision_id, resolveCommit(found));
      await run.log('build', 'INFO', `${repo_ref} is commit ${sha}.`);
      return sha;
    } catch (error) {
      run.signal.throwIfAborted();
      if (isOfRecord(error)) throw error;
      if (this.executor.needsCommits) throw failureOf(error);
      await run.log('build', 'WARNING', `The commit of ${repo_ref} is not known: ${messageOf(error)}`);
      return null;
    }
  }

  /** The archive that was uploaded; undefined when there is none. */
  private async uploaded({ tenantId, id }: Deployed, path: string): Promise<AsyncIterable<Buffer> | undefined> {
    const { archives } = this;
    const archive = archives && (await partlyRecorded(archives.open(tenantId, id, path)).catch(unreadable));
    return archive ? readable(archive) : undefined;
  }

  /** The files of a commit; undefined without a commit. */
  private repository(
    { tenantId, config: { integration_id, repo_url } }: Deployed,
    commit: string | null,
    signal: AbortSignal,
  ): AsyncIterable<Buffer> | undefined {
    const { commits } = this;
    if (!commit || !integration_id || !repo_url || !commits) return undefined;
    return onceRead(() => partlyRecorded(commits.archive(tenantId, integration_id, repo_url, commit, signal)));
  }

  private async beside(
    seen: Seen,
    { signal, waits }: Hold,
    work: (assignment: Assignment, step: Step) => Promise<void>,
  ): Promise<void> {
    const { target } = seen;
    const log = this.logs.open(target, target.running?.id ?? null);
    try {
      const assignment = await this.assignment(seen, target.secrets, log);
      await withTimeLimit(this.options.timeLimit, [signal], (late) =>
        work(assignment, log.step('deploy', late, waits)),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (isOfRecord(error)) throw error;
      const reason = log.safe(messageOf(error));
      await log.write('deploy', 'ERROR', reason);
      throw new ExecutorUnreachable(reason);
    } finally {
      await log.flush();
    }
  }

  /** The assignment with the place where it is to run, which is recorded before anything is there. */
  private async placed(target: Deployed, assignment: Assignment): Promise<Assignment> {
    const { upkeep } = this.executor;
    if (!upkeep || assignment.place !== undefined) return assignment;
    const { place } = await this.reports.decideHost(target, placeDeployment(target.id, upkeep.place(assignment)));
    return { ...assignment, place };
  }

  /** Assignment with which an executor works on a deployment with these secrets. */
  async assignment({ target, version, host }: Seen, sealed: Deployed['secrets'], log: RolloutLog): Promise<Assignment> {
    const { id: deploymentId, tenantId, name, config } = target;
    const open = async ({ name, sealed }: Deployed['secrets'][number]) =>
      [name, await partlyRecorded(this.vault.open(tenantId, deploymentId, name, sealed))] as const;
    const secrets = async () => {
      if (sealed.length === 0) return new Map<string, string>();
      await this.reports.sayRead(
        target,
        version,
        sealed.map((secret) => secret.name),
      );
      const values = new Map(await Promise.all(sealed.map(open)));
      log.hide(values.values());
      return values;
    };
    // It never changes once it is there, and `placed` notices when another process has chosen it.
    return { deploymentId, tenantId, name, config, place: host.place, secrets };
  }
}

/** One attempt: which phase it is in, and where its words go. */
class Run {
  phase: LogPhase = 'deploy';
  readonly signal: AbortSignal;

  constructor(
    readonly rolloutLog: RolloutLog,
    private readonly hold: Hold,
    private readonly report: (status: RolloutStatus) => Promise<void>,
  ) {
    this.signal = hold.signal;
  }

  /** @throws when the attempt was aborted: what it says then no longer counts. */
  async say(status: RolloutStatus): Promise<void> {
    this.signal.throwIfAborted();
    await this.report(status);
  }

  log(phase: LogPhase, level: 'INFO' | 'WARNING' | 'ERROR', message: string): Promise<void> {
    return this.rolloutLog.write(phase, level, message);
  }

  step(phase: LogPhase): Step {
    return this.rolloutLog.step(phase, this.signal, this.hold.waits);
  }
}

/**
 * An archive that is fetched when it is read: a build that fails before leaves no answer of the code host half read.
 * @throws ExecutorUnreachable, StepFailed while it is read
 */
async function* onceRead(fetch: () => Promise<AsyncIterable<Buffer>>): AsyncGenerator<Buffer, void> {
  try {
    yield* await fetch();
  } catch (error) {
    throw failureOf(error);
  }
}

/** An archive in the database. @throws as `unreadable` while it is read */
async function* readable(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const blocks = archive[Symbol.asyncIterator]();
  try {
    for (;;) {
      const block = await partlyRecorded(blocks.next()).catch(unreadable);
      if (block.done) return;
      yield block.value;
    }
  } finally {
    await blocks.return?.();
  }
}

/** @throws what the database was unreachable with, and ExecutorUnreachable with the cause otherwise */
function unreadable(cause: unknown): never {
  if (isOfRecord(cause)) throw cause;
  const reason = `The uploaded source cannot be read from the database: ${messageOf(cause)}`;
  throw new ExecutorUnreachable(reason, { cause });
}

/** Error for a step that needs the answer of a code host, from the failure of the host. */
function failureOf(error: unknown): Error {
  if (error instanceof Error && isOfRecord(error)) return error;
  const message = messageOf(error);
  return error instanceof CodeHostUnreachable ? new ExecutorUnreachable(message) : new StepFailed(message);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new CodeHostUnreachable('The code host took too long.'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
