import { EventStore, type Recorded, streamName } from '@fairlead/eventing';
import { awaitedStream, type ExperimentEvent, type FeedbackAdded, sessionStream } from '@fairlead/runs';
import { Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';

/** Acts for whoever gave feedback that waited for its run. */
const FEEDBACK_SERVICE = 'system:feedback';
/** Events of one experiment that are read. */
const MOST_EVENTS = 500_000;
const KEPT = 100;
const BYTES_EACH = 150;
const MOST_BYTES = 64 * 1024 * 1024;

/** The writers of an experiment, as the log tells them: ids of API keys, and of deployments for their programs; null: unknown. */
export interface Writers {
  /** Events that have been read. */
  readonly version: number;
  /** Undefined before the first event. */
  readonly maker?: string | null;
  /** True when its runs and scores came at once, with the event that made it. */
  readonly isUpload: boolean;
  /** The writers of the scores that came afterwards, by the ids of these. */
  readonly scores: ReadonlyMap<string, string | null>;
  /** The writers of everything else afterwards, by what they did: `has sent runs to` and the like. */
  readonly deeds: ReadonlyMap<string, ReadonlySet<string | null>>;
  /** True when there are more events than are read. */
  readonly isCut: boolean;
}

const NOBODY: Writers = { version: 0, isUpload: false, scores: new Map(), deeds: new Map(), isCut: false };

/** Everybody who wrote an experiment. */
export function actorsOf({ maker, scores, deeds }: Writers): Iterable<string | null | undefined> {
  return [maker, ...scores.values(), ...[...deeds.values()].flatMap((each) => [...each])];
}

/** Reads from the log who wrote experiments, and which actors are programs of deployments. */
@Injectable()
export class EvidenceWriters {
  private readonly known = new Recent<Writers>(KEPT, {
    bytes: MOST_BYTES,
    of: ({ scores }) => BYTES_EACH * (scores.size + 1),
  });

  private readonly programs = new Recent<'yes' | 'no'>(KEPT * 10);

  constructor(private readonly store: EventStore) {}

  /** The writers of an experiment, with every event that is in the log by now. */
  async of(tenantId: string, id: string): Promise<Writers> {
    const before = this.known.get(id) ?? NOBODY;
    let { version, maker, isUpload, isCut } = before;
    const scores = new Map(before.scores);
    const deeds = new Map(before.deeds);
    const did = (deed: string, actor: string | null) => deeds.set(deed, new Set(deeds.get(deed)).add(actor));
    for await (const part of this.store.parts(sessionStream(id), version)) {
      for (const event of part as Recorded<ExperimentEvent>[]) {
        const actor = event.metadata.actor ?? null;
        ({ version } = event);
        switch (event.type) {
          case 'ExperimentUploaded':
          case 'SessionCreated':
            [maker, isUpload] = [actor, event.type === 'ExperimentUploaded'];
            break;
          case 'RunsReceived':
            did('has sent runs to', actor);
            break;
          case 'ExperimentFilled':
            did('has filled rows of', actor);
            break;
          case 'SessionPatched':
            did('has changed', actor);
            break;
          case 'FeedbackChanged':
            did('has changed scores of', actor);
            break;
          case 'FeedbackDeleted':
            did('has deleted scores of', actor);
            scores.delete(event.data.id);
            break;
          case 'FeedbackAdded':
            scores.set(event.data.id, actor === FEEDBACK_SERVICE ? await this.giver(tenantId, event.data) : actor);
        }
      }
      isCut = version > MOST_EVENTS;
      if (isCut) break;
    }
    const writers: Writers = { version, maker, isUpload, scores, deeds, isCut };
    this.known.set(id, writers);
    return writers;
  }

  /** The actors that are programs of deployments: those act under the ids of these. */
  async programsAmong(actors: Iterable<string | null | undefined>): Promise<Set<string>> {
    const programs = new Set<string>();
    for (const actor of new Set(actors)) if (actor && (await this.isProgram(actor))) programs.add(actor);
    return programs;
  }

  private async isProgram(actor: string): Promise<boolean> {
    const known = this.programs.get(actor);
    if (known) return known === 'yes';
    const first = this.store.parts(streamName('deployment', actor))[Symbol.asyncIterator]();
    const { done = false } = await first.next();
    await first.return?.();
    this.programs.set(actor, done ? 'no' : 'yes');
    return !done;
  }

  /** The writer of feedback that waited for its run. */
  private async giver(tenantId: string, { id, run_id }: FeedbackAdded['data']): Promise<string | null> {
    if (run_id === null) return null;
    for await (const part of this.store.parts(awaitedStream(tenantId, run_id))) {
      const given = part.find(({ data }) => (data as { readonly id?: string }).id === id);
      if (given) return given.metadata.actor ?? null;
    }
    return null;
  }
}
