import { join } from 'node:path';
import { BodyThread, type LargePart } from '@fairlead/blobs';
import { Injectable } from '@nestjs/common';
import { ExperimentLimits } from '../../bodies/experiment-limits';
import type { SentParts } from './live-runs-body';
import { type BodyKind, type BodyToRead, readRunBody } from './read-run-body';

/** Reads large bodies of runs on a thread of their own. */
@Injectable()
export class LiveRunsThread extends BodyThread<BodyToRead, SentParts> {
  constructor(private readonly limits: ExperimentLimits) {
    super(join(__dirname, 'live-runs.worker.js'), readRunBody);
  }

  /** Content of a body of runs; the body must not be used afterwards. @throws HttpProblem */
  read(
    tenant: string,
    kind: BodyKind,
    body: Buffer,
    argument?: string,
    large?: readonly LargePart[],
  ): Promise<SentParts> {
    const { maxRuns: most, maxDepth: depth } = this.limits;
    return this.readBody(tenant, { kind, body, argument, most, depth, large });
  }
}
