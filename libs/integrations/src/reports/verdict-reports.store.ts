import { transaction } from '@fairlead/postgres';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { IntegrationsOptions } from '../integration/integrations.options';
import type { Standing } from './gated-revision';
import { MOST_SECTIONS } from './comment-text';
import { VerdictTurns } from './verdict-turns.store';

/**
 * Outcome of a report. `waiting`: the host is told, now or later. `sent`: it was told. `ignored`: there was nothing to
 * tell. `set_aside`: it could not be told.
 */
export const REPORT_STATUSES = ['waiting', 'sent', 'ignored', 'set_aside'] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

/** A revision of which a code host is to be told. */
export interface WaitingReport {
  readonly tenant_id: string;
  readonly deployment_id: string;
  readonly revision_id: string;
  readonly version: string;
  /** The status that the commit was given last, in a form of our own. */
  readonly told: string | null;
  /** Pull requests that have been told of it. */
  readonly pulls: readonly number[];
}

/** Facts about a revision, which are known before its host is told. */
interface Known {
  readonly integration_id: string;
  readonly name: string;
  /** As addresses of repositories are compared. */
  readonly repository: string;
  readonly commit: string | null;
  readonly standing: Standing | null;
}

/** The repository of pull requests. */
export interface Place {
  readonly tenantId: string;
  readonly integrationId: string;
  readonly repository: string;
}

/** Reports that are kept of an integration, and revisions of a deployment that are told of at a time. */
const MOST_KEPT = 500;
const AT_A_TIME = 20;
/** Time that reports and comments are kept (days). A pull request whose comment is forgotten gets another one. */
const [REPORT_DAYS, COMMENT_DAYS] = [30, 365];

/** The revisions of which code hosts are told, and what has come of it. */
@Injectable()
export class VerdictReportsStore {
  constructor(
    private readonly pool: Pool,
    private readonly turns: VerdictTurns,
    private readonly options: IntegrationsOptions,
  ) {}

  /** Returns waiting revisions of a deployment, the oldest first. */
  async waiting(tenantId: string, deploymentId: string): Promise<WaitingReport[]> {
    const { rows } = await this.pool.query<WaitingReport>(
      `select tenant_id, deployment_id, revision_id, version, told, pulls from verdict_reports
       where tenant_id = $1 and deployment_id = $2 and status = 'waiting' order by revision_id limit ${AT_A_TIME}`,
      [tenantId, deploymentId],
    );
    return rows;
  }

  /** Deletes the rows of a deployment whose repository is told nothing. */
  async leave(tenantId: string, deploymentId: string): Promise<void> {
    await this.pool.query(
      'delete from verdict_reports where tenant_id = $1 and deployment_id = $2 and integration_id is null',
      [tenantId, deploymentId],
    );
    await this.pool.query(
      `update verdict_reports set status = 'ignored', reason = 'The integration does not report on its repository.'
       where tenant_id = $1 and deployment_id = $2 and status = 'waiting'`,
      [tenantId, deploymentId],
    );
  }

  async know({ tenant_id, revision_id }: WaitingReport, known: Known): Promise<void> {
    const { integration_id, name, repository, commit, standing } = known;
    await this.pool.query(
      `update verdict_reports set integration_id = $3, name = $4, repository = $5, commit = $6, standing = $7
       where tenant_id = $1 and revision_id = $2`,
      [tenant_id, revision_id, integration_id, name, repository, commit, standing],
    );
  }

  /** Notes the status that a commit has now. */
  async stated({ tenant_id, revision_id }: WaitingReport, told: string): Promise<void> {
    await this.pool.query('update verdict_reports set told = $3 where tenant_id = $1 and revision_id = $2', [
      ...[tenant_id, revision_id, told],
    ]);
  }

  /** Notes what comments on pull requests say of a revision, before they do. */
  async drawUp({ tenant_id, revision_id }: WaitingReport, pulls: readonly number[], section: string): Promise<void> {
    await this.pool.query(
      'update verdict_reports set pulls = $3, section = $4 where tenant_id = $1 and revision_id = $2',
      [tenant_id, revision_id, pulls, section],
    );
  }

  /** Returns the text about each deployment: about its newest revision that the pull request has. */
  async sections({ tenantId, integrationId, repository }: Place, pull: number): Promise<string[]> {
    const { rows } = await this.pool.query<{ section: string }>(
      `select section from (
         select distinct on (deployment_id) deployment_id, name, section from verdict_reports
         where tenant_id = $1 and integration_id = $2 and repository = $3 and $4 = any(pulls) and section is not null
         order by deployment_id, revision_id desc) as newest
       order by name, deployment_id limit ${10 * MOST_SECTIONS}`,
      [tenantId, integrationId, repository, pull],
    );
    return rows.map(({ section }) => section);
  }

  /** Records what has come of a report, unless something has happened since. */
  async settle(
    { tenant_id, revision_id, version }: WaitingReport,
    { status, reason }: { readonly status: ReportStatus; readonly reason: string | null },
  ): Promise<void> {
    await transaction(this.pool, async (tx) => {
      const { rows } = await tx.query<{ integration_id: string }>(
        `update verdict_reports set status = $4, reason = $5, next_attempt_at = null, attempts = attempts + 1,
           sent_at = case when $4 = 'sent' then now() else sent_at end
         where tenant_id = $1 and revision_id = $2 and version = $3 returning integration_id`,
        [tenant_id, revision_id, version, status, reason],
      );
      await tx.query(
        `delete from verdict_reports where tenant_id = $1 and integration_id = $2 and revision_id in (
           select revision_id from verdict_reports where tenant_id = $1 and integration_id = $2
           order by revision_id desc offset ${MOST_KEPT})`,
        [tenant_id, rows[0]?.integration_id ?? null],
      );
    });
  }

  /** Records that a host gave no answer: reports wait, or are set aside when that took too long. True when one waits. */
  async failed(reports: readonly WaitingReport[], reason: string, pause: number): Promise<boolean> {
    const { rows } = await this.pool.query<{ status: ReportStatus }>(
      `update verdict_reports set attempts = attempts + 1, reason = $3,
         status = case when waits_since < now() - $5 * interval '1 millisecond' then 'set_aside' else 'waiting' end,
         next_attempt_at = case when waits_since >= now() - $5 * interval '1 millisecond'
           then now() + $4 * interval '1 millisecond' end
       where tenant_id = $1 and revision_id = any($2::uuid[]) and status = 'waiting' returning status`,
      [
        ...[reports[0]!.tenant_id, reports.map(({ revision_id }) => revision_id)],
        ...[reason, pause, this.options.deliveries.patience],
      ],
    );
    return rows.some(({ status }) => status === 'waiting');
  }

  /** Lets a host be told again. False when nothing of that integration can be told again. */
  async retry(tenantId: string, integrationId: string, revisionId: string): Promise<boolean> {
    return transaction(this.pool, async (tx) => {
      const { rows } = await tx.query<{ deployment_id: string }>(
        `update verdict_reports set status = 'waiting', attempts = 0, waits_since = now(), next_attempt_at = null,
           version = version + 1, told = null
         where tenant_id = $1 and integration_id = $2 and revision_id = $3 and status <> 'waiting'
         returning deployment_id`,
        [tenantId, integrationId, revisionId],
      );
      if (!rows[0]) return false;
      await this.turns.note(tenantId, rows[0].deployment_id, tx);
      return true;
    });
  }

  /** Deletes what is stored for an integration. */
  async forget(tenantId: string, integrationId: string): Promise<void> {
    for (const table of ['verdict_reports', 'verdict_comments']) {
      await this.pool.query(`delete from ${table} where tenant_id = $1 and integration_id = $2`, [
        ...[tenantId, integrationId],
      ]);
    }
  }

  /** Deletes some rows that are older than they are kept, and returns how many. */
  async sweep(most: number): Promise<number> {
    const reports = await this.pool.query(
      `delete from verdict_reports where (tenant_id, revision_id) in (
         select tenant_id, revision_id from verdict_reports
         where noted_at < now() - $1 * interval '1 day' limit $2)`,
      [REPORT_DAYS, most],
    );
    const comments = await this.pool.query(
      `delete from verdict_comments where (tenant_id, integration_id, repository, pull) in (
         select tenant_id, integration_id, repository, pull from verdict_comments
         where updated_at < now() - $1 * interval '1 day' limit $2)`,
      [COMMENT_DAYS, most],
    );
    return Math.max(reports.rowCount ?? 0, comments.rowCount ?? 0);
  }
}
