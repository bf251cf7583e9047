import type { Gate } from '@fairlead/contracts';
import type { NewEvent } from '@fairlead/eventing';
import { MemoryEventStore } from '@fairlead/eventing/testing';
import { feedbackConfigStream } from '@fairlead/runs';
import type { Pool } from 'pg';
import { EvidenceChanges } from './evidence-changes.service';
import { EvidenceWriters } from './evidence-writers.service';

const [tenant, deployment, revision, dataset] = ['7', '8', '9', 'a'].map(
  (digit) => digit.repeat(8) + '-0000-4000-8000-000000000000',
);
const judged = { tenant_id: tenant!, deployment_id: deployment!, revision_id: revision! };

describe('Changes of what decides about scores', () => {
  let store: MemoryEventStore;
  /** Rows of the table of configurations. */
  let shown: object[];
  let changes: EvidenceChanges;

  const write = async (stream: string, actor: string | undefined, ...events: NewEvent[]) => {
    await store.append(stream, 'any', events, { tenant, actor });
  };
  const ofDataset = (actor: string | undefined, type: NewEvent['type'], data: object = {}) =>
    write(`dataset-${dataset}`, actor, { type, data });
  const directions = (actor: string, lower: string[]) =>
    ofDataset(actor, 'ScoreDirectionsChanged', { lower_is_better: lower, higher_is_better: [] });
  const config = async (actor: string, categories: object[], lower = false) => {
    const text = JSON.stringify({ type: 'categorical', categories });
    const data = { key: 'tone', config: text, is_lower_score_better: lower };
    await write(feedbackConfigStream(tenant!, 'tone'), actor, { type: 'FeedbackConfigChanged', data });
    shown = [{ key: 'tone', config: text, lower }];
  };
  const labels = (good: number) => [{ label: 'good', value: good }];
  /** Resolves when events get another time than those before. */
  const later = async () => {
    for (const start = Date.now(); Date.now() === start;) await new Promise(setImmediate);
  };
  const make = async () => {
    await later();
    await write(`deployment-${deployment}`, 'ci', { type: 'RevisionCreated', data: { revision_id: revision } });
    await later();
  };
  const found = async (gate: Partial<Gate> = {}, more: object = {}) => {
    const wanted = {
      name: 'gate',
      dataset_id: dataset,
      keys: { tone: { max_drop: 0.1 } },
      evidence_keys: ['ci'],
      ...gate,
    };
    const { reasons, unknownLabels } = await changes.of({ ...judged, ...more }, wanted as Gate);
    return [...reasons, ...unknownLabels];
  };

  beforeEach(async () => {
    store = new MemoryEventStore();
    shown = [];
    const pool = { query: () => Promise.resolve({ rows: shown }) } as unknown as Pool;
    changes = new EvidenceChanges(store, pool, new EvidenceWriters(store));
    await ofDataset('other', 'DatasetCreated', { name: 'questions' });
  });

  it('are nothing before the revision is made, whoever makes them', async () => {
    await directions('other', ['tone']);
    await ofDataset('other', 'ExamplesChanged');
    await config('other', labels(1), true);
    await make();
    expect(await found()).toEqual([]);
  });

  it.each(['ExamplesAdded', 'ExamplesChanged', 'ExamplesDeleted', 'SplitsChanged'] as const)(
    'are %s by others than those who count',
    async (type) => {
      await make();
      expect(await found()).toEqual([]);
      await ofDataset('ci', type);
      expect(await found()).toEqual([]);
      await ofDataset('other', type);
      expect(await found()).toEqual(['The key other has changed examples of the dataset, and does not count.']);
      await ofDataset(undefined, type);
      expect(await found()).toContain('It is not known who has changed examples of the dataset.');
      expect(await found({ evidence_keys: ['ci', 'other'] })).toHaveLength(1);
    },
  );

  it('are directions of the keys of the gate, until a key that counts sets them', async () => {
    await make();
    await directions('other', ['unrelated']);
    expect(await found()).toEqual([]);
    await directions('other', ['tone']);
    expect(await found()).toEqual([
      'The key other has changed which scores of the dataset are better, and does not count.',
    ]);
    await directions('ci', ['tone', 'unrelated']);
    expect(await found()).toEqual([]);
    await directions('other', []);
    expect(await found()).toEqual([]);
  });

  it('are values of labels and directions of configurations, until they are as they were', async () => {
    await config('ci', labels(1));
    await make();
    expect(await found()).toEqual([]);
    await config('other', [...labels(1), { label: 'fair', value: 0.5 }]);
    const changed = ['The key other has changed how scores of tone are read, and does not count.'];
    expect(await found()).toEqual(changed);
    await config('other', labels(1), true);
    expect(await found()).toEqual(changed);
    await config('other', labels(1));
    expect(await found()).toEqual([]);
    await config('ci', labels(0.9));
    expect(await found()).toEqual([]);
  });

  it('are not known when a configuration came with scores, for a gate that names keys', async () => {
    await make();
    shown = [{ key: 'tone', config: JSON.stringify({ categories: labels(1) }), lower: true }];
    expect(await found()).toEqual(['It is not known who said which tone is better.', 'tone']);
    expect(await found({ evidence_keys: undefined })).toEqual([]);
    await directions('ci', ['tone']);
    expect(await found()).toEqual(['tone']);
    await config('ci', labels(1), true);
    expect(await found()).toEqual([]);
  });

  it('are those of programs and services also for a gate that names no keys', async () => {
    await write('deployment-program', 'ci', { type: 'RevisionCreated', data: { revision_id: 'another' } });
    await make();
    await ofDataset('other', 'ExamplesChanged');
    await directions('system:rules', ['tone']);
    await ofDataset('program', 'ExamplesChanged');
    expect(await found({ evidence_keys: undefined })).toEqual([
      'The key program has changed examples of the dataset, and does not count.',
      'The key system:rules has changed which scores of the dataset are better, and does not count.',
    ]);
  });

  it('end with the time of a look that is repeated', async () => {
    await make();
    const lookedAt = new Date().toISOString();
    await later();
    await ofDataset('other', 'ExamplesChanged');
    expect(await found({}, { lookedAt })).toEqual([]);
    expect(await found()).toHaveLength(1);
  });
});
