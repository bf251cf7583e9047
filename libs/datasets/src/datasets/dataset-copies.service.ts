import { memberSlices } from '@fairlead/blobs';
import type { Caller } from '@fairlead/eventing';
import { EXPERIMENTS_VIEW, found } from '@fairlead/runs';
import { FairShare, type Infer, NoPlace, PayloadTooLarge, TooManyRequests } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { v4 as newId } from 'uuid';
import type { ChangedExample } from '../examples/example-rows';
import { VIEW_MS } from '../examples/example-changes.commands';
import { type ExampleFilter, readExamples } from '../examples/examples.queries';
import { NoSuchVersion } from './dataset.errors';
import { findVersion, versionAt } from './dataset-versions.queries';
import type { datasetCopy } from './datasets-body';
import { DatasetCommands } from './datasets.commands';
import { createdJson, findDataset } from './datasets.queries';

/** Largest size of the examples of a copy, as of any other change: it is one event whose rows are in memory. */
const MOST_MEGABYTES = 24;
/** Largest number of them, as in a request that creates examples. */
const MOST_EXAMPLES = 25_000;
/** Bytes that an example takes besides its texts. */
const EACH = 200;
/** Copies at once, one for each workspace, and the wait for one (ms). */
const AT_ONCE = 2;
const PATIENCE_MS = 20_000;

/** Copies datasets, so that one that only uploads change can be gone on with. */
@Injectable()
export class DatasetCopies {
  private readonly turns = new FairShare(AT_ONCE, { perOwner: 1, waiting: 4 });

  constructor(private readonly datasets: DatasetCommands) {}

  /**
   * Makes a dataset with the examples of a version of another one, all of them or none, and returns it as JSON,
   * once it can be read unless the view is late. Its metadata name where it came from.
   * @throws DatasetNotFound, NoSuchVersion, DatasetExists, PayloadTooLarge, TooManyRequests
   */
  copy(caller: Caller, from: string, wanted: Infer<typeof datasetCopy>): Promise<string> {
    const copy = this.turns.hold(caller.tenantId, { patience: PATIENCE_MS }, () => this.make(caller, from, wanted));
    return copy.catch((error: unknown) => {
      if (error instanceof NoPlace)
        throw new TooManyRequests(5, 'Too many datasets are being copied, of this workspace or of others.');
      throw error;
    });
  }

  private async make(caller: Caller, from: string, wanted: Infer<typeof datasetCopy>): Promise<string> {
    const { datasets } = this;
    const { tenantId, command } = caller;
    const { state } = await datasets.find(tenantId, from);
    const asOf = await this.version(tenantId, from, wanted.as_of);
    const filter = { dataset: from, asOf, splits: wanted.splits };
    const examples = asOf === undefined ? [] : await this.examples(caller, filter, wanted.name);
    const { description, dataType: data_type, definitions } = state;
    const data = {
      ...{ name: wanted.name, description: wanted.description ?? description, data_type, ...definitions },
      metadata: metadataOf(definitions.metadata, { dataset_id: from, name: state.name, as_of: asOf ?? null }),
      externally_managed: false,
    };
    const id = command?.idFor('dataset') ?? newId();
    const made = await datasets.create(caller, id, data, examples);
    const { position } = await datasets.find(tenantId, id);
    // It is made, also when it cannot be read yet.
    if (!(await datasets.followers.shown(position, EXPERIMENTS_VIEW, VIEW_MS)))
      return createdJson(id, tenantId, made, examples.length);
    return found(await findDataset(datasets.pool, tenantId, id), 'Dataset ID', id);
  }

  /** The time of the version, so that a change that comes meanwhile is not copied in part; undefined without examples. */
  private async version(tenantId: string, dataset: string, asOf: string): Promise<string | undefined> {
    const { pool } = this.datasets;
    const version = await findVersion(pool, tenantId, dataset, await versionAt(pool, tenantId, asOf, { dataset }));
    if (!version && asOf !== 'latest') throw new NoSuchVersion(asOf);
    return version?.time;
  }

  private async examples(
    { tenantId, command }: Caller,
    filter: ExampleFilter,
    name: string,
  ): Promise<readonly ChangedExample[]> {
    const copied: ChangedExample[] = [];
    let bytes = 0;
    for await (const { created, inputs, outputs, metadata, source_run_id, attachments } of readExamples(
      this.datasets.pool,
      tenantId,
      filter,
    )) {
      const texts = [inputs, outputs, metadata, attachments && JSON.stringify(attachments)];
      for (const text of texts) bytes += Buffer.byteLength(text ?? '');
      bytes += EACH;
      if (bytes > MOST_MEGABYTES * 1024 * 1024 || copied.length === MOST_EXAMPLES) {
        throw new PayloadTooLarge(
          `The dataset has more than ${MOST_EXAMPLES} examples or ${MOST_MEGABYTES} MiB of them: copy some of its splits, or download it and add its examples in several requests.`,
        );
      }
      const id = command?.idFor('example', copied.length) ?? newId();
      copied.push({
        // With the times, lists of the copy have the order of the other dataset.
        ...{ id, created_at: created, name: `#${id.slice(0, 4)} @ ${name}`, inputs },
        outputs: outputs ?? undefined,
        metadata: metadata ?? undefined,
        source_run_id: source_run_id ?? undefined,
        attachments: attachments ?? undefined,
      });
    }
    return copied;
  }
}

/** The metadata of a dataset, byte for byte, with where its copy came from. */
function metadataOf(metadata: string | null, copied_from: object): string {
  const members = new Map(metadata?.trimStart().startsWith('{') ? memberSlices(Buffer.from(metadata)) : []);
  members.set('copied_from', Buffer.from(JSON.stringify(copied_from)));
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value.toString('utf8')}`).join(',')}}`;
}
