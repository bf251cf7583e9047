import { type VerdictAbout, VerdictReports } from '@fairlead/contracts';
import { EventStore, load, streamName } from '@fairlead/eventing';
import { BadRequest, NotFound } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { ComparisonRequest } from '../compare/comparisons.service';
import { type CountedExperiment, judgementsModel } from '../gates/held-revision';
import { comparisonLink, ComparisonReports } from './comparison-reports.service';
import { verdictMarkdown } from './verdict-markdown';

/** Comparisons of one verdict, experiments of the revision in each of them, and rows of each. */
const MOST_COMPARISONS = 3;
const MOST_EXPERIMENTS = 3;
const WORST_ROWS = 5;

/** Renders the last look at the evidence for a revision, with the comparison of the newest experiments that counted. */
@Injectable()
export class VerdictReportsService extends VerdictReports {
  constructor(
    private readonly store: EventStore,
    private readonly reports: ComparisonReports,
  ) {
    super();
  }

  override async markdown(tenantId: string, about: VerdictAbout): Promise<string> {
    const { state } = await load(this.store, judgementsModel, streamName('gate', about.revision_id));
    const last = state.last?.deployment_id === about.deployment_id ? state.last : undefined;
    const reports: string[] = [];
    const requests = last ? compared(about, last.experiments) : [];
    for (const request of requests.slice(0, MOST_COMPARISONS)) {
      const link = about.console === undefined ? undefined : comparisonLink(about.console, request);
      reports.push(await this.compare(tenantId, request, link));
    }
    const left = requests.length - reports.length;
    if (left > 0) reports.push(`Comparisons for ${left} more gates are in Fairlead.`);
    return verdictMarkdown(about, last, reports);
  }

  private async compare(tenantId: string, request: ComparisonRequest, link: string | undefined): Promise<string> {
    try {
      return await this.reports.render(tenantId, request, { link, worst: WORST_ROWS });
    } catch (error) {
      if (error instanceof NotFound) return 'An experiment that counted is gone, so that nothing can be compared.';
      if (error instanceof BadRequest) return 'The experiments are too large to be compared here.';
      throw error;
    }
  }
}

/** For each gate with a baseline, the newest experiments that counted. */
function compared({ gates }: VerdictAbout, experiments: readonly CountedExperiment[]): ComparisonRequest[] {
  return gates.flatMap(({ name, dataset_id: datasetId }): ComparisonRequest[] => {
    const of = (wanted: CountedExperiment['role']) =>
      experiments.filter(({ gate, role }) => gate === name && role === wanted).map(({ id }) => id);
    // The newest come first.
    const [baseline] = of('baseline');
    const candidates = of('revision').slice(0, MOST_EXPERIMENTS);
    if (baseline === undefined || candidates.length === 0) return [];
    return [{ datasetId, baseline, experiments: candidates, lowerIsBetter: [], higherIsBetter: [] }];
  });
}
