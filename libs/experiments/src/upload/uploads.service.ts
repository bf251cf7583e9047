import {
  type Caller,
  checkAppend,
  Consistency,
  EventStore,
  fold,
  idOf,
  type Recorded,
  StoredBytes,
} from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { v4 as randomId } from 'uuid';
import {
  type DatasetHoldings,
  type ExperimentEvent,
  experimentId,
  experimentModel,
  EXPERIMENTS_VIEWS,
  type ExperimentUploaded,
  IdTaken,
  REPLAY_MS,
  SessionCommands,
  SessionExists,
  sessionStream,
  upload,
} from '@fairlead/runs';
import { DatasetCommands, findHoldings, type Target } from '@fairlead/datasets';
import { uploadAnswer } from './upload-answer';
import type { Received } from './upload-receiver.service';
import { findTarget, type Joined, joinDataset } from './upload-target';

interface Outcome {
  readonly event: Recorded<ExperimentUploaded>;
  readonly replayed: boolean;
}

/** Maximum id collisions with sessions of another kind before an upload takes a random id. */
const MOST_TAKEN = 20;
/** Most that ids, times and numbers take in the event of an upload. */
const UNKNOWN_BYTES = 1000;

/**
 * Records valid uploads. Every step can be repeated: a crash between any two is repaired by the same upload sent again.
 */
@Injectable()
export class Uploads {
  constructor(
    private readonly store: EventStore,
    private readonly sessions: SessionCommands,
    private readonly datasets: DatasetCommands,
    private readonly consistency: Consistency,
    private readonly pool: Pool,
    private readonly stored: StoredBytes,
  ) {}

  /**
   * Makes an experiment of a received body, or answers the first outcome when the same body came within 24 hours.
   * @throws SessionExists, AppendTooLarge, DatasetIdTaken, DatasetMismatch, NotExternallyManaged,
   * QuotaReached; then nothing is visible.
   */
  async record(caller: Caller, received: Received): Promise<{ answer: string; replayed: boolean }> {
    const { tenantId: tenant } = caller;
    const { id, first } = await this.identify(tenant, received.sha256);
    if (first) return { answer: uploadAnswer(earlier(first)), replayed: true };
    const { event, replayed } = await this.stored.within(tenant, received.bytes, () => this.make(caller, id, received));
    return { answer: uploadAnswer(event), replayed };
  }

  private async make(caller: Caller, id: string, received: Received): Promise<Outcome> {
    const { tenantId: tenant, metadata } = caller;
    const { header } = received.upload;
    // The event holds the metadata once, as text, and what is not known of it yet takes less than the space left here.
    const known = { ...received.upload, header: { ...header, experiment_metadata: undefined } };
    const data = { ...known, unknown: ' '.repeat(UNKNOWN_BYTES) };
    checkAppend(sessionStream(id), [{ type: 'ExperimentUploaded', data }], metadata);
    const finding = findTarget(this.datasets, tenant, header, id);
    const naming = this.sessions.checkName(tenant, header.experiment_name, id);
    // Both are asked at once; what is wrong with the dataset is told first.
    naming.catch(() => undefined);
    const target = await finding;
    await naming;
    try {
      const joining = this.join(caller, id, target, received);
      // Both end before anything else is done, whichever fails.
      const [kept, joined] = await Promise.allSettled([received.draft.keep(received.sha256, received.bytes), joining]);
      if (joined.status === 'rejected') throw joined.reason;
      if (kept.status === 'rejected') throw kept.reason;
      return await this.append(caller, id, received, joined.value);
    } catch (error) {
      await this.giveUp(caller, id, header.experiment_name);
      throw error;
    }
  }

  private async join(caller: Caller, id: string, target: Target, received: Received) {
    const { header } = received.upload;
    await this.sessions.reserveName(caller, header.experiment_name, id);
    return joinDataset(this.datasets, caller, target, header.dataset_id !== undefined, id);
  }

  /**
   * The id of the experiment that this body is or becomes, and its first event if it has been uploaded. Ids can be
   * computed: one that a session of another kind has is passed over, and a body that meets many of them gets an id by chance.
   */
  private async identify(
    tenant: string,
    sha256: string,
  ): Promise<{ id: string; first?: Recorded<ExperimentUploaded> }> {
    let taken = 0;
    for (let generation = 0; taken < MOST_TAKEN; generation++) {
      const id = experimentId(tenant, sha256, generation);
      const events = (await this.store.read(sessionStream(id))) as Recorded<ExperimentEvent>[];
      const [first] = events;
      if (first === undefined) return { id };
      if (!isUpload(first, tenant, sha256)) taken++;
      else if (!fold(experimentModel, events)?.removed) return { id, first };
    }
    return { id: randomId() };
  }

  private async append(
    caller: Caller,
    id: string,
    { upload: { header, metadata: sent, rows, summaryScores }, sha256, bytes }: Received,
    dataset: Joined,
  ): Promise<Outcome> {
    const { tenantId } = caller;
    const { state } = dataset;
    const held = dataset.isNew ? undefined : await this.holdings(dataset, tenantId);
    const decide = upload({
      name: header.experiment_name,
      description: header.experiment_description ?? null,
      start_time: header.experiment_start_time.iso,
      end_time: header.experiment_end_time.iso,
      metadata: sent,
      payload: { sha256, bytes },
      row_count: rows,
      summary_score_count: summaryScores,
      dataset: {
        id: dataset.id,
        name: state.name,
        description: state.description,
        data_type: state.dataType,
        created_at: state.createdAt,
        modified_at: state.modifiedAt,
        ...(held && { held }),
      },
      test_run_number: state.numbers.get(id) ?? state.lastNumber,
      id_seed: randomId(),
    });
    const { events } = await this.sessions.run(caller, id, decide);
    const written = events[0] as Recorded<ExperimentUploaded> | undefined;
    if (written) return { event: written, replayed: false };
    const [first] = (await this.store.read(sessionStream(id))) as Recorded<ExperimentUploaded>[];
    if (first && isUpload(first, tenantId, sha256)) return { event: first, replayed: true };
    throw new IdTaken();
  }

  /** Content of a dataset, as lists show it once they know that the experiment has been put there. */
  private async holdings({ id }: Joined, tenant: string): Promise<DatasetHoldings | undefined> {
    await this.consistency.upToDate(tenant, EXPERIMENTS_VIEWS);
    return findHoldings(this.pool, tenant, id);
  }

  /** Frees the name again, unless the session of this id has it, because the same upload has succeeded beside this one. */
  private async giveUp(caller: Caller, id: string, name: string): Promise<void> {
    try {
      if ((await this.sessions.stateOf(id))?.name !== name) await this.sessions.releaseName(caller, name, id);
    } catch {
      // The reservation then counts as abandoned after a minute.
    }
  }
}

function isUpload(
  event: Recorded<ExperimentEvent>,
  tenant: string | undefined,
  sha256: string,
): event is Recorded<ExperimentUploaded> {
  const { type, metadata, data } = event;
  return type === 'ExperimentUploaded' && metadata.tenant === tenant && data.payload.sha256 === sha256;
}

/** The first outcome of an upload. @throws SessionExists when that is so long ago that this one is no retry */
function earlier(first: Recorded<ExperimentUploaded>): Recorded<ExperimentUploaded> {
  if (Date.now() - Date.parse(first.time) > REPLAY_MS) throw new SessionExists(idOf(first.stream));
  return first;
}
