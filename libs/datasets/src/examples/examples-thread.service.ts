import { join } from 'node:path';
import { BodyThread } from '@fairlead/blobs';
import { Injectable } from '@nestjs/common';
import { ExperimentLimits } from '@fairlead/runs';
import type { SentExamples } from './examples-body';
import { type ExamplesKind, type ExamplesToRead, readExamplesBody } from './read-examples';

/** Reads large bodies of examples on a thread of their own. */
@Injectable()
export class ExamplesThread extends BodyThread<ExamplesToRead, SentExamples> {
  constructor(private readonly limits: ExperimentLimits) {
    super(join(__dirname, 'examples.worker.js'), readExamplesBody);
  }

  /** Content of a body of examples; the body must not be used afterwards. @throws HttpProblem */
  read(tenant: string, kind: ExamplesKind, body: Buffer, argument?: string): Promise<SentExamples> {
    return this.readBody(tenant, { examples: kind, body, argument, depth: this.limits.maxDepth });
  }
}
