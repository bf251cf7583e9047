import type { Installation } from '@fairlead/service/testing';
import type { Asked, Of } from './asked';
import { ComparisonAnswers, ViewAnswers } from './comparison-answers';
import { ExperimentAnswers } from './experiment-answers';
import { ExportAnswers } from './export-answers';
import { ExampleAnswers, FeedbackAnswers, SessionAnswers } from './list-answers';
import { RunAnswers, RunV2Answers, StatsAnswers } from './run-answers';
import type { Query } from './query';
import type { Things } from './things';

/** A query as the service answers it over HTTP, and as the model does: both in the same form. */
export class Answers {
  private readonly kinds: { readonly [K in Query['of']]: Asked<Of<K>> };

  constructor(
    installation: Installation,
    readonly things: Things,
  ) {
    this.kinds = {
      runs: new RunAnswers(installation, things),
      'runs v2': new RunV2Answers(installation, things),
      stats: new StatsAnswers(installation, things),
      sessions: new SessionAnswers(installation, things),
      examples: new ExampleAnswers(installation, things),
      feedback: new FeedbackAnswers(installation, things),
      experiments: new ExperimentAnswers(installation, things),
      view: new ViewAnswers(installation, things),
      comparison: new ComparisonAnswers(installation, things),
      export: new ExportAnswers(installation, things),
    };
  }

  /** The answer of the service. @throws Error when it is no success, or its pages do not fit together */
  actual(query: Query): Promise<unknown> {
    return this.of(query).actual(query);
  }

  /** The answer of the model. */
  expected(query: Query): unknown {
    return this.of(query).expected(query);
  }

  private of(query: Query): Asked<Query> {
    return this.kinds[query.of];
  }
}
