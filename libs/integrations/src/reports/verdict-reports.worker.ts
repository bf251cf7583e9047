import { createHash } from 'node:crypto';
import { type GateJudgedMessage, plainRepository, VerdictReports } from '@fairlead/contracts';
import { EventStore, type Lease, QueueWorker, type Recorded, streamName } from '@fairlead/eventing';
import { withTimeLimit } from '@fairlead/schema';
import { Injectable, Logger } from '@nestjs/common';
import type { CodeHost } from '../hosts/code-host';
import { CodeHostFailed, CommitNotFound, mayPass } from '../hosts/code-host.errors';
import { encoded } from '../hosts/dialect';
import { reportedTo } from '../integration/integration';
import { IntegrationCommands } from '../integration/integration.commands';
import { IntegrationNotFound } from '../integration/integration.errors';
import { IntegrationsOptions } from '../integration/integrations.options';
import { webUrl } from '../integration/provider';
import { type At, RepositoryAccess } from '../repositories/repository-access.service';
import { cutText, LONGEST_COMMENT } from './comment-text';
import { type GatedDeployment, gatedEvolve, type GatedEvent, type GatedRevision, told } from './gated-revision';
import { CommentHeld, PullComments } from './pull-comments.service';
import { type Place, type ReportStatus, VerdictReportsStore, type WaitingReport } from './verdict-reports.store';
import { VerdictTurns } from './verdict-turns.store';

const AT_ONCE = 16;
/** Pause after a failure of our own, and while another process writes the same comment (ms). */
const [PAUSE_MS, HELD_PAUSE_MS] = [10_000, 2000];
const LONGEST_PAUSE_MS = 3_600_000;
const SWEEP_EVERY_MS = 3_600_000;
const SWEPT_AT_ONCE = 1000;
/** Pull requests of one commit that get a comment. */
const MOST_PULLS = 10;
/** Characters of the name of a status. */
const LONGEST_NAME = 80;

interface Outcome {
  readonly status: ReportStatus;
  readonly reason: string | null;
}

/** A revision that is told of, with its deployment and the repository at the host. */
interface Subject {
  readonly at: At;
  readonly row: WaitingReport;
  readonly deployment: GatedDeployment;
  readonly revision: GatedRevision & {
    readonly commit: string;
    readonly standing: NonNullable<GatedRevision['standing']>;
  };
}

/**
 * Tells code hosts the verdicts of gates: a status of the commit, and one comment on its open pull requests. What is told
 * is read from the log at that moment, so that the order and number of notes do not matter.
 */
@Injectable()
export class VerdictReportsWorker extends QueueWorker {
  private sweptAt = 0;

  constructor(
    private readonly turns: VerdictTurns,
    private readonly reports: VerdictReportsStore,
    private readonly comments: PullComments,
    private readonly integrations: IntegrationCommands,
    private readonly access: RepositoryAccess,
    private readonly verdicts: VerdictReports,
    private readonly store: EventStore,
    private readonly options: IntegrationsOptions,
  ) {
    super(turns, new Logger('Verdicts'), AT_ONCE);
  }

  protected override async prepare(): Promise<void> {
    if (Date.now() - this.sweptAt < SWEEP_EVERY_MS) return;
    this.sweptAt = Date.now();
    try {
      while ((await this.reports.sweep(SWEPT_AT_ONCE)) === SWEPT_AT_ONCE && !this.stopping.signal.aborted);
    } catch (error) {
      this.logger.error(error);
    }
  }

  protected async work(lease: Lease): Promise<void> {
    const { item } = lease;
    try {
      for (;;) {
        const rows = await this.reports.waiting(item.tenant!, item.id);
        if (rows.length === 0) return await this.turns.finish(item);
        const pause = await this.tell(item.tenant!, item.id, rows, lease);
        if (pause !== undefined) return await this.turns.postpone(item, pause);
      }
    } catch (error) {
      if (!lease.signal.aborted) this.logger.error(error);
      await this.turns.postpone(item, PAUSE_MS).catch((lost: unknown) => this.logger.error(lost));
    }
  }

  /** Tells of revisions of a deployment. Returns after which pause to go on; undefined when all of them are told. */
  private async tell(
    tenantId: string,
    deploymentId: string,
    rows: readonly WaitingReport[],
    lease: Lease,
  ): Promise<number | undefined> {
    const wanted = new Set(rows.map(({ revision_id }) => revision_id));
    const found = await this.find(tenantId, deploymentId, wanted);
    if (!found) {
      await this.reports.leave(tenantId, deploymentId);
      return undefined;
    }
    const { at, deployment } = found;
    for (const [place, row] of rows.entries()) {
      try {
        const outcome = await withTimeLimit(this.options.listDeadline, [lease.signal], (late) =>
          this.report(at, deployment, row, late),
        );
        await this.reports.settle(row, outcome);
      } catch (error) {
        if (lease.signal.aborted) throw error;
        if (error instanceof CommentHeld) return HELD_PAUSE_MS;
        if (!mayPass(error)) throw error;
        const pause = this.pauseAfter(error, lease.item.failures);
        return (await this.reports.failed(rows.slice(place), sentence(error), pause)) ? pause : undefined;
      }
    }
    return undefined;
  }

  /** The pause that the host asks for, or that of deliveries. */
  private pauseAfter(error: unknown, failures: number): number {
    const { pauses } = this.options.deliveries;
    const pause = pauses[Math.min(failures, pauses.length - 1)]! * (0.9 + 0.2 * Math.random());
    const asked = error instanceof CodeHostFailed ? (error.retryAfter ?? 0) * 1000 : 0;
    return Math.min(Math.max(pause, asked), LONGEST_PAUSE_MS);
  }

  /** The deployment and its integration; undefined when its repository is told nothing. */
  private async find(tenantId: string, id: string, wanted: ReadonlySet<string>) {
    const evolve = gatedEvolve(wanted);
    let deployment: GatedDeployment | null = null;
    let at: At | undefined;
    for await (const part of this.store.parts(streamName('deployment', id))) {
      for (const event of part) deployment = evolve(deployment, event as Recorded<GatedEvent>);
      // Most deployments are told of nowhere: of these only the beginning is read.
      at ??= deployment ? await this.integrationOf(tenantId, deployment) : undefined;
      if (!at) return undefined;
    }
    return at && deployment ? { at, deployment } : undefined;
  }

  private async integrationOf(
    tenantId: string,
    { integration_id, repo_url }: GatedDeployment,
  ): Promise<At | undefined> {
    if (integration_id === null) return undefined;
    try {
      const at = await this.integrations.find(tenantId, integration_id);
      return reportedTo(at.state, repo_url) ? at : undefined;
    } catch (error) {
      if (error instanceof IntegrationNotFound) return undefined;
      throw error;
    }
  }

  private async report(at: At, deployment: GatedDeployment, row: WaitingReport, signal: AbortSignal): Promise<Outcome> {
    const { id: integration_id } = at.state;
    const { name, repo_url } = deployment;
    const { commit = null, standing = null, ...revision } = deployment.revisions.get(row.revision_id) ?? {};
    await this.reports.know(row, { integration_id, name, repository: plainRepository(repo_url), commit, standing });
    if (commit === null) return { status: 'ignored', reason: 'The commit of the revision is not known.' };
    if (standing === null) return { status: 'ignored', reason: 'No gate has held the revision.' };
    const subject = { at, row, deployment, revision: { ...(revision as GatedRevision), commit, standing } };
    return this.access.call(at, repo_url, signal, async (host, path) => {
      const { statuses, comments } = reportedTo(at.state, repo_url)!;
      const refused = [
        ...(statuses ? await this.state(subject, host, path, signal) : []),
        ...(comments ? await this.comment(subject, host, path, signal) : []),
      ];
      return refused.length > 0 ? { status: 'set_aside', reason: refused.join(' ') } : { status: 'sent', reason: null };
    });
  }

  /** Gives the commit its status. Returns why the host has refused it. */
  private async state(subject: Subject, host: CodeHost, path: readonly string[], signal: AbortSignal) {
    const { at, row, deployment, revision } = subject;
    const { state, description } = told(revision.standing, revision.reason, await this.reasons(row.revision_id));
    const { provider, base_url } = at.state;
    const status = {
      ...{ state, description, context: `fairlead/${deployment.name.slice(0, LONGEST_NAME)}` },
      key: `fairlead-${row.deployment_id.replaceAll('-', '').slice(-24)}`,
      url: this.pageOf(row),
      commitUrl: `${webUrl(provider, base_url)}/${encoded(path)}/commits/${revision.commit}`,
      branch: branchOf(revision.ref),
    };
    const stamp = createHash('sha256').update(JSON.stringify(status)).digest('hex');
    if (stamp === row.told) return [];
    return refusalOf('The commit got no status', async () => {
      await host.order(host.dialect.reporting.status(path, revision.commit, status), signal);
      await this.reports.stated(row, stamp);
    });
  }

  /** Lets pull requests say it. Returns why the host has refused that. */
  private async comment(subject: Subject, host: CodeHost, path: readonly string[], signal: AbortSignal) {
    const { at, row, deployment, revision } = subject;
    let open: readonly number[] = [];
    const { first, page } = host.dialect.reporting.pulls(path, revision.commit);
    const unlisted = await refusalOf('Its pull requests could not be listed', async () => {
      open = await host.all(first, page, signal);
    });
    // One that was told before is told the end as well, when it has been merged meanwhile.
    const pulls = [...new Set([...row.pulls, ...open])].slice(0, MOST_PULLS);
    if (pulls.length === 0) return unlisted;
    const text = await this.verdicts.markdown(row.tenant_id, {
      ...{ deployment_id: row.deployment_id, revision_id: row.revision_id, name: deployment.name },
      ...{ commit: revision.commit, standing: told(revision.standing, null, []).words, gates: revision.gates },
      ...{ console: this.console(), page: this.pageOf(row) },
    });
    await this.reports.drawUp(row, pulls, cutText(text, LONGEST_COMMENT));
    const place: Place = {
      ...{ tenantId: row.tenant_id, integrationId: at.state.id, repository: plainRepository(deployment.repo_url) },
    };
    const refused = [...unlisted];
    for (const pull of pulls) {
      const what = `The pull request ${pull} got no comment`;
      refused.push(...(await refusalOf(what, () => this.comments.write({ host, path }, place, pull, signal))));
    }
    return refused;
  }

  /** The reasons of the last look at the evidence for a revision. */
  private async reasons(revisionId: string): Promise<readonly string[]> {
    const looks = await this.store.read(streamName('gate', revisionId));
    return (looks.at(-1)?.data as GateJudgedMessage | undefined)?.reasons ?? [];
  }

  private console(): string | undefined {
    const { publicUrl } = this.options;
    return publicUrl === undefined ? undefined : `${publicUrl.replace(/\/+$/, '')}/o/-`;
  }

  private pageOf({ deployment_id }: WaitingReport): string | undefined {
    const console = this.console();
    return console === undefined ? undefined : `${console}/host/deployments/${deployment_id}?tab=revisions`;
  }
}

/** Runs a part of a report. Returns why the host has refused it; what may pass is thrown. */
async function refusalOf(what: string, act: () => Promise<void>): Promise<string[]> {
  try {
    await act();
    return [];
  } catch (error) {
    if (!(error instanceof CommitNotFound) && (!(error instanceof CodeHostFailed) || error.passing)) throw error;
    return [`${what}: ${sentence(error)}`];
  }
}

function sentence(error: unknown): string {
  if (error instanceof CommitNotFound) {
    return 'the code host knows no such thing, or the credentials of the integration may not write there.';
  }
  return (error as Error).name === 'TimeoutError' ? 'The code host took too long to answer.' : (error as Error).message;
}

/** The branch that a reference of a deployment names; undefined for a tag or a commit. */
function branchOf(ref: string | null): string | undefined {
  if (ref === null || ref.startsWith('refs/tags/') || /^[0-9a-f]{40,64}$/.test(ref)) return undefined;
  return ref.replace(/^refs\/heads\//, '');
}
