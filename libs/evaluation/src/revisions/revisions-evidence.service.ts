import { requireDataset } from '@fairlead/datasets';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Traced } from '../trend/traced';
import { MOST_RUNS, Trends } from '../trend/trends.service';
import { liveRunsOf } from './live-revisions.queries';
import { experimentsOfRevisions, type RevisionSession, type RevisionSessions } from './revision-experiments.queries';
import { shownScores, statisticsOfAll } from './revision-statistics';
import type { RevisionExperiment, RevisionScores, RevisionTrendPoint } from './revisions.answers.schema';

/** Experiments and live runs that name revisions of deployments; which revisions there are, another service knows. */
@Injectable()
export class RevisionsEvidence {
  constructor(
    private readonly pool: Pool,
    private readonly trends: Trends,
  ) {}

  /** Scores, usage, latency and errors of each revision. `experiments`: number of those that are listed. */
  async scores(
    tenantId: string,
    revisions: readonly string[],
    { dataset_id, experiments }: { readonly dataset_id?: string; readonly experiments: number },
  ): Promise<{ readonly resources: readonly RevisionScores[] }> {
    const namedBy = await experimentsOfRevisions(this.pool, tenantId, revisions, dataset_id);
    const resources: RevisionScores[] = [];
    for (const revision_id of revisions) {
      const { sessions, more } = namedBy(revision_id);
      const { errors, scores, ...live } = await liveRunsOf(this.pool, tenantId, revision_id);
      const error_rate = live.runs === 0 ? null : errors / live.runs;
      const stored = sessions.filter(({ persisted }) => persisted);
      resources.push({
        revision_id,
        evaluated: { experiments: stored.length, more, ...statisticsOfAll(sessions) },
        newest: sessions.slice(0, experiments).map(listed),
        live: { ...live, error_rate, ...shownScores(scores) },
      });
    }
    return { resources };
  }

  /**
   * A point for each revision that has experiments on the dataset. Those whose runs would be too many for one answer are
   * named as unread.
   * @throws NotFound for a dataset that the workspace does not have
   */
  async trend(tenantId: string, datasetId: string, revisions: readonly string[], traced: Traced) {
    await requireDataset(this.pool, tenantId, datasetId);
    const namedBy = await experimentsOfRevisions(this.pool, tenantId, revisions, datasetId);
    const values = await this.trends.valuesOf(tenantId, traced);
    const resources: RevisionTrendPoint[] = [];
    const unread: string[] = [];
    let read = 0;
    for (const revision of revisions) {
      const pooled = pooledOf(revision, namedBy(revision));
      if (!pooled) continue;
      const { experiment, about } = pooled;
      const isKnown = !experiment || this.trends.known(tenantId, experiment, traced, values) !== undefined;
      if (!isKnown) read += about.run_count;
      if (!isKnown && read > MOST_RUNS && resources.length > 0) unread.push(revision);
      else if (experiment)
        resources.push({ ...about, ...(await this.trends.point(tenantId, experiment, traced, values)) });
      else resources.push({ ...about, mean: null, scored: 0, runs: 0, interval: null, rerun: null, spread: null });
    }
    return { dataset_id: datasetId, ...(await this.trends.followed(tenantId, datasetId, traced)), resources, unread };
  }
}

function listed(session: RevisionSession): RevisionExperiment {
  const { id, name, dataset: dataset_id, start: start_time, persisted } = session;
  return { id, name, dataset_id, start_time, persisted, ...statisticsOfAll([session]) };
}

/** The experiments of a revision as one with repetitions; undefined where it has none, without `experiment` while all are being stored. */
function pooledOf(revision: string, { sessions, more }: RevisionSessions) {
  if (sessions.length === 0) return undefined;
  const stored = sessions.filter(({ persisted }) => persisted);
  const [first, ...others] = stored;
  const about = {
    revision_id: revision,
    experiments: stored.map(({ id }) => id),
    storing: sessions.length - stored.length,
    more,
    run_count: stored.reduce((sum, { run_count }) => sum + (run_count ?? 0), 0),
  };
  const stamp = stored.flatMap((one) => [one.id, one.stamp]);
  const experiment = first && { ...first, repeatedBy: others.map(({ id }) => id), wholes: stored, stamp };
  return { experiment, about };
}
