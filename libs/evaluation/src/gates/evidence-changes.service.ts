import type { Gate } from '@fairlead/contracts';
import { EventStore, type Recorded, streamName } from '@fairlead/eventing';
import { type FeedbackConfigEvent, feedbackConfigStream } from '@fairlead/runs';
import { Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { EvidenceWriters } from './evidence-writers.service';
import { type KeyReading, keyReadings, readingOf, uploadsThatEdited } from './gate-evidence.queries';
import { keysOf } from './gate-verdict';
import { trusts } from './trusted-evidence';

const KEPT = 5000;
/** Writers of one dataset that are told apart. */
const MOST_WRITERS = 1000;
/** Uploads that have changed examples since a revision was made. */
const MOST_UPLOADS = 100;

/** A revision whose evidence is judged. */
export interface Judged {
  readonly tenant_id: string;
  readonly deployment_id: string;
  readonly revision_id: string;
  /** The time (ISO 8601) of an earlier look, after which nothing is looked at; absent: now. */
  readonly lookedAt?: string;
}

type Writer = string | null;

/** The changes of one stream: its state when the revision was made, and now. */
interface Story<S> {
  readonly version: number;
  readonly before: S;
  readonly now: S;
}

interface OfDataset {
  /** The direction that the dataset gives each key of the gate, as JSON text. */
  readonly directions: string;
  readonly directedBy: Writer;
  /** The writers of examples after the revision was made. */
  readonly editors: ReadonlySet<Writer>;
}

interface OfKey extends KeyReading {
  readonly by: Writer;
}

/** Changes by others than those who count, of what decides how scores are read. */
export interface Changes {
  /** Sentences: they hold the revision. */
  readonly reasons: readonly string[];
  /** Keys whose labels have got their values from scores, so that the log does not tell who gave them. */
  readonly unknownLabels: readonly string[];
  /** Readings of the keys of the gate: changes whenever one of them does. */
  readonly readings: readonly KeyReading[];
}

const NO_READING: OfKey = { labels: '', lower: false, by: null };
const NEW_DATASET: OfDataset = { directions: '', directedBy: null, editors: new Set() };
const EDITS = ['ExamplesAdded', 'ExamplesChanged', 'ExamplesDeleted', 'SplitsChanged', 'DatasetDeleted'];

/**
 * Reads from the log who has changed what decides about scores after a revision was made: the direction of a key, the values
 * of labels, and the examples of the dataset. Those who do not count could change a verdict by it, and hold the revision.
 */
@Injectable()
export class EvidenceChanges {
  private readonly stories = new Recent<Story<unknown>>(KEPT);
  private readonly made = new Recent<string>(KEPT);

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly writers: EvidenceWriters,
  ) {}

  /** The changes that the log tells, and those of readings that it does not tell. */
  async of(judged: Judged, gate: Gate): Promise<Changes> {
    const { tenant_id: tenant } = judged;
    const keys = keysOf(gate);
    const stored = await keyReadings(this.pool, tenant, keys);
    const dataset = await this.datasetStory(judged, gate, keys);
    const sentences: [Writer, string][] = [...dataset.now.editors].map((by) => [
      by,
      'has changed examples of the dataset',
    ]);
    if (dataset.now.directions !== dataset.before.directions) {
      sentences.push([dataset.now.directedBy, 'has changed which scores of the dataset are better']);
    }
    const [reasons, unknownLabels]: [string[], string[]] = [[], []];
    const directed = JSON.parse(dataset.now.directions || '{}') as Record<string, string>;
    for (const key of keys) {
      const shown = stored.get(key) ?? NO_READING;
      const { before, now } = await this.keyStory(judged, key, shown);
      if (!isSame(before, now)) sentences.push([now.by, `has changed how scores of ${key} are read`]);
      // An upload, and feedback on a key without a configuration, bring one along.
      if (!gate.evidence_keys) continue;
      if (shown.labels !== now.labels) unknownLabels.push(key);
      if (shown.lower !== now.lower && !directed[key]) reasons.push(`It is not known who said which ${key} is better.`);
    }
    const counts = await this.trusts(
      gate,
      sentences.map(([by]) => by),
    );
    reasons.unshift(...sentences.flatMap(([by, deed]) => (counts(by) ? [] : sentence(by, deed))));
    return { reasons, unknownLabels, readings: keys.map((key) => stored.get(key) ?? NO_READING) };
  }

  /** Sentences about uploads by others that have changed examples which were there before. */
  async byUploads(judged: Judged, gate: Gate): Promise<string[]> {
    const { tenant_id: tenant, lookedAt = null } = judged;
    const times = [await this.madeAt(judged), lookedAt] as const;
    const uploads = await uploadsThatEdited(this.pool, tenant, gate.dataset_id, times, MOST_UPLOADS + 1);
    if (uploads.length > MOST_UPLOADS)
      return [`More than ${MOST_UPLOADS} uploads have changed examples of the dataset.`];
    const makers = new Set<Writer>();
    for (const { id } of uploads) makers.add((id && (await this.writers.of(tenant, id)).maker) ?? null);
    const counts = await this.trusts(gate, makers);
    const others = [...makers].filter((maker) => !counts(maker));
    return others.map((maker) => sentence(maker, 'has changed examples of the dataset with an upload'));
  }

  private async trusts({ evidence_keys }: Gate, actors: Iterable<Writer>): Promise<(actor: Writer) => boolean> {
    const programs = await this.writers.programsAmong(actors);
    const isTrusted = trusts(evidence_keys, (actor) => programs.has(actor));
    return (actor) => actor !== null && isTrusted(actor);
  }

  private datasetStory(judged: Judged, gate: Gate, keys: readonly string[]): Promise<Story<OfDataset>> {
    const id = `${judged.revision_id} gate ${gate.name}`;
    return this.story(judged, streamName('dataset', gate.dataset_id), id, NEW_DATASET, (state, event, isLater) => {
      const by = event.metadata.actor ?? null;
      const isEdit = EDITS.includes(event.type) && isLater;
      const editors = isEdit ? withWriter(state.editors, by) : state.editors;
      if (event.type === 'DatasetCreated') return { ...state, directions: '', directedBy: by };
      if (event.type !== 'ScoreDirectionsChanged') return editors === state.editors ? state : { ...state, editors };
      const data = event.data as { readonly lower_is_better: string[]; readonly higher_is_better: string[] };
      const of = (key: string) =>
        data.lower_is_better.includes(key) ? 'lower' : data.higher_is_better.includes(key) ? 'higher' : undefined;
      const given = Object.fromEntries(keys.flatMap((key) => (of(key) ? [[key, of(key)]] : [])));
      return { ...state, directions: Object.keys(given).length > 0 ? JSON.stringify(given) : '', directedBy: by };
    });
  }

  /** The log is read again when the table shows another reading, which scores are read with. */
  private async keyStory(judged: Judged, key: string, shown: KeyReading): Promise<Story<OfKey>> {
    const { tenant_id, revision_id, lookedAt } = judged;
    const id = `${revision_id} key ${key}`;
    const known = lookedAt === undefined ? (this.stories.get(id) as Story<OfKey> | undefined) : undefined;
    if (known && isSame(known.now, shown)) return known;
    return this.story(judged, feedbackConfigStream(tenant_id, key), id, NO_READING, (_, event) => {
      const { type, data, metadata } = event as Recorded<FeedbackConfigEvent>;
      const by = metadata.actor ?? null;
      if (type === 'FeedbackConfigDeleted') return { ...NO_READING, by };
      return { ...readingOf(data.config, data.is_lower_score_better), by };
    });
  }

  /** Reads the events of a stream that are not known yet. */
  private async story<S>(
    judged: Judged,
    stream: string,
    id: string,
    start: S,
    evolve: (state: S, event: Recorded, isLater: boolean) => S,
  ): Promise<Story<S>> {
    const { lookedAt } = judged;
    const made = await this.madeAt(judged);
    // A repeated look stops at another event.
    const known = lookedAt === undefined ? (this.stories.get(id) as Story<S> | undefined) : undefined;
    let { version, before, now } = known ?? { version: 0, before: start, now: start };
    for await (const part of this.store.parts(stream, version)) {
      for (const event of part) {
        if (lookedAt !== undefined && event.time > lookedAt) return { version, before, now };
        ({ version } = event);
        now = evolve(now, event, event.time > made);
        if (event.time <= made) before = now;
      }
      if (lookedAt === undefined) this.stories.set(id, { version, before, now });
    }
    const story = { version, before, now };
    if (lookedAt === undefined) this.stories.set(id, story);
    return story;
  }

  /** The time at which a revision was made, as the log of its deployment says. */
  private async madeAt({ deployment_id, revision_id }: Judged): Promise<string> {
    const known = this.made.get(revision_id);
    if (known !== undefined) return known;
    for await (const part of this.store.parts(streamName('deployment', deployment_id))) {
      const made = part.find(
        ({ type, data }) =>
          type === 'RevisionCreated' && (data as { readonly revision_id?: string }).revision_id === revision_id,
      );
      if (!made) continue;
      this.made.set(revision_id, made.time);
      return made.time;
    }
    throw new Error(`The log does not tell when the revision ${revision_id} was made.`);
  }
}

function isSame(one: KeyReading, other: KeyReading): boolean {
  return one.labels === other.labels && one.lower === other.lower;
}

/** The writers with one more, who is not known beyond a number of them. */
function withWriter(editors: ReadonlySet<Writer>, by: Writer): ReadonlySet<Writer> {
  const writer = editors.size < MOST_WRITERS ? by : null;
  return editors.has(writer) ? editors : new Set(editors).add(writer);
}

function sentence(by: Writer, deed: string): string {
  return by === null ? `It is not known who ${deed}.` : `The key ${by} ${deed}, and does not count.`;
}
