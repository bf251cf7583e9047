import { setTimeout as delay } from 'node:timers/promises';
import { PayloadStore } from '@fairlead/blobs';
import { type Caller, Consistency, EventStore, fold, type Recorded, StoredBytes } from '@fairlead/eventing';
import { Conflict, Unavailable } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { v4 as randomId } from 'uuid';
import {
  type ExperimentEvent,
  type ExperimentFilled,
  experimentModel,
  EXPERIMENTS_VIEWS,
  fill,
  REPLAY_MS,
  SessionCommands,
  sessionStream,
} from '@fairlead/runs';
import { type Dataset, DatasetCommands, findHoldings, isThere } from '@fairlead/datasets';
import { checkFillHeader, checkFillRows } from './fill-check.queries';
import { type ExperimentFacts, extraOf, fillAnswer } from './upload-answer';
import type { Received } from './upload-receiver.service';

/** Time that a fill waits until the rows that came before it are stored (ms). */
const PATIENCE_MS = 10_000;
const LOOK_MS = 250;

/** Another fill came first. */
class Behind extends Error {}

interface Found {
  readonly events: readonly Recorded<ExperimentEvent>[];
  readonly fills: readonly { readonly sha256: string; readonly time: string }[];
  readonly datasetId: string;
  readonly dataset: Dataset;
}

interface Outcome {
  readonly answer: string;
  readonly replayed: boolean;
}

@Injectable()
export class Fills {
  constructor(
    private readonly store: EventStore,
    private readonly sessions: SessionCommands,
    private readonly datasets: DatasetCommands,
    private readonly payloads: PayloadStore,
    private readonly consistency: Consistency,
    private readonly pool: Pool,
    private readonly stored: StoredBytes,
  ) {}

  /** Checks that the tenant has the experiment, and that it was uploaded. @throws SessionNotFound, Conflict */
  async require(tenant: string, id: string): Promise<void> {
    await this.find(tenant, id);
  }

  /**
   * Fills rows of an experiment from a received body, or answers the first outcome when the same body came within 24
   * hours. All rows are filled or none.
   * @throws SessionNotFound, Conflict, Unprocessable, QuotaReached, and Unavailable while rows are still being stored
   */
  async record(caller: Caller, id: string, received: Received): Promise<Outcome> {
    const { tenantId: tenant } = caller;
    const { sha256, bytes } = received;
    const before = await this.find(tenant, id);
    const earlier = earlierFill(before, sha256);
    if (earlier) return { answer: answerTo(earlier, before.events), replayed: true };
    return this.stored.within(tenant, bytes, async () => {
      let kept = false;
      try {
        for (;;) {
          const found = await this.settled(tenant, id);
          const twin = earlierFill(found, sha256);
          if (twin) return { answer: answerTo(twin, found.events), replayed: true };
          await this.check(tenant, id, found, received);
          if (!kept) {
            await received.draft.keep(sha256, bytes);
            await this.payloads.need(tenant, [{ sha256, session: id }]);
            kept = true;
          }
          const filled = await this.append(caller, id, found, received);
          if (filled) return { answer: answerTo(filled, [...found.events, filled]), replayed: false };
        }
      } catch (error) {
        // Then nothing needs the body, unless the same one has filled the experiment beside this request.
        if (kept && !(await this.sessions.stateOf(id))?.fills?.some((one) => one.sha256 === sha256))
          await this.payloads.needNoMore(tenant, sha256, id);
        throw error;
      }
    });
  }

  private async find(tenant: string, id: string): Promise<Found> {
    await this.sessions.find(tenant, id);
    const events = (await this.store.read(sessionStream(id))) as Recorded<ExperimentEvent>[];
    const state = fold(experimentModel, events)!;
    const { upload, fills = [] } = state;
    if (!upload)
      throw new Conflict(`The experiment '${state.name}' was not uploaded: only uploaded experiments can be filled.`);
    const dataset = await this.datasets.stateOf(upload.dataset);
    if (!isThere(dataset)) throw new Conflict(`The dataset of the experiment '${state.name}' was deleted.`);
    return { events, fills, datasetId: upload.dataset, dataset };
  }

  /** The experiment once all its rows are stored. @throws Unavailable when that takes long */
  private async settled(tenant: string, id: string): Promise<Found> {
    for (const deadline = Date.now() + PATIENCE_MS; ; await delay(LOOK_MS)) {
      if ((await this.sessions.find(tenant, id)).state.persisted) return this.find(tenant, id);
      if (Date.now() >= deadline)
        throw new Unavailable(2, 'The rows that the experiment has are still being stored: send the fill again later.');
    }
  }

  private async check(tenant: string, id: string, { events, datasetId, dataset }: Found, { upload }: Received) {
    const { name, description } = dataset;
    checkFillHeader(upload, { experiment: factsOf(events), dataset: { id: datasetId, name, description } });
    await checkFillRows(this.pool, { tenant, experiment: id, dataset: datasetId }, upload.fill!);
  }

  /** Records the fill; undefined when another one came first. */
  private async append(
    caller: Caller,
    id: string,
    { fills, datasetId, dataset }: Found,
    { upload: { header, rows }, sha256, bytes }: Received,
  ): Promise<Recorded<ExperimentFilled> | undefined> {
    await this.consistency.upToDate(caller.tenantId, EXPERIMENTS_VIEWS);
    const held = await findHoldings(this.pool, caller.tenantId, datasetId);
    const data: ExperimentFilled['data'] = {
      number: fills.length + 1,
      payload: { sha256, bytes },
      row_count: rows,
      start_time: header.experiment_start_time.iso,
      end_time: header.experiment_end_time.iso,
      id_seed: randomId(),
      dataset: {
        id: datasetId,
        name: dataset.name,
        description: dataset.description,
        data_type: dataset.dataType,
        created_at: dataset.createdAt,
        modified_at: dataset.modifiedAt,
        ...(held && { held }),
      },
    };
    try {
      const { events } = await this.sessions.change(
        caller,
        id,
        fill(data, () => new Behind()),
      );
      return events[0] as Recorded<ExperimentFilled>;
    } catch (error) {
      if (error instanceof Behind) return undefined;
      throw error;
    }
  }
}

/** The fill by the same body, when it is so recent that this one is a retry. */
function earlierFill({ events, fills }: Found, sha256: string): Recorded<ExperimentFilled> | undefined {
  const since = Date.now() - REPLAY_MS;
  if (!fills.some((one) => one.sha256 === sha256 && Date.parse(one.time) >= since)) return undefined;
  return events.findLast(
    (event): event is Recorded<ExperimentFilled> =>
      event.type === 'ExperimentFilled' && event.data.payload.sha256 === sha256,
  );
}

function answerTo(filled: Recorded<ExperimentFilled>, events: readonly Recorded<ExperimentEvent>[]): string {
  return fillAnswer(filled, factsOf(events.filter(({ version }) => version <= filled.version)));
}

function factsOf(events: readonly Recorded<ExperimentEvent>[]): ExperimentFacts {
  let facts: ExperimentFacts | undefined;
  for (const event of events) {
    if (event.type === 'ExperimentUploaded') facts = { ...event.data, extra: extraOf(event.data.metadata) };
    else if (facts && event.type === 'SessionPatched') facts = patched(facts, event.data);
    else if (facts && event.type === 'ExperimentFilled') {
      const { start_time: start, end_time: end } = event.data;
      facts = {
        ...facts,
        start_time: start < facts.start_time ? start : facts.start_time,
        end_time: end > facts.end_time ? end : facts.end_time,
      };
    }
  }
  return facts!;
}

function patched(facts: ExperimentFacts, changes: Extract<ExperimentEvent, { type: 'SessionPatched' }>['data']) {
  const { name, description, end_time, extra } = changes;
  return {
    ...facts,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(typeof end_time === 'string' && { end_time }),
    ...(extra !== undefined && { extra }),
  };
}
