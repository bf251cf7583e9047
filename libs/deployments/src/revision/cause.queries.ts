import { actorNames, EventStore, streamName } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { SourceStore } from '../archives/source.store';
import { type Cause, causesOf, type Upload } from '../model/cause';
import type { revisionRecord } from '../deployment/record';

/** Tells who made revisions and why, from the stream of their deployment. */
@Injectable()
export class CauseQueries {
  constructor(
    private readonly store: EventStore,
    private readonly sources: SourceStore,
  ) {}

  /** The records of revisions of a deployment, each with its cause. */
  async of(id: string, records: readonly ReturnType<typeof revisionRecord>[]) {
    const causes = await causesOf(this.store.parts(streamName('deployment', id)), Date.now());
    const known = records.map((record): typeof record & Cause => ({ ...record, ...causes.get(record.id)! }));
    const uploads = known.flatMap(({ upload }) => upload ?? []);
    const names = await actorNames(
      this.store,
      [...known, ...uploads].map(({ actor }) => actor),
    );
    const digests = await this.sources.digests(
      id,
      uploads.map(({ path }) => path),
    );
    const shown = ({ path, actor, time: issued_at }: Upload) => {
      const archive = digests.get(path) ?? { sha256: null, bytes: null };
      return { ...archive, actor, actor_name: names.get(actor) ?? null, issued_at };
    };
    return known.map(({ upload, ...revision }) => {
      return { ...revision, actor_name: names.get(revision.actor) ?? null, upload: upload && shown(upload) };
    });
  }
}
