import type { V1Pod } from '@kubernetes/client-node';
import { podHealth, sumOf } from './pod-health';

const START = '2026-01-01T12:00:00.000Z';
const REVISION = '0198c0de-0000-7000-8000-000000000001';
const READY = [{ type: 'Ready', status: 'True' }];

/** A pod of one container, as the API of Kubernetes answers it. */
function pod(container: object, status: object = {}, metadata: object = {}): V1Pod {
  return {
    metadata: { name: 'pod-1', annotations: { 'fairlead.dev/revision-id': REVISION }, ...metadata },
    status: { startTime: START, containerStatuses: [{ name: 'agent', restartCount: 0, ...container }], ...status },
  } as never;
}

it('tells of a pod that is ready what it uses and how it ended before', () => {
  const lastState = { terminated: { reason: 'OOMKilled', exitCode: 137, message: 'MODEL_KEY=sesame' } };
  const found = pod({ restartCount: 2, lastState, state: { running: {} } }, { conditions: READY });
  expect(podHealth(found, { memory_bytes: 1000, cpu_cores: 0.5 })).toEqual({
    name: 'pod-1',
    state: 'RUNNING',
    reason: null,
    revision_id: REVISION,
    restarts: 2,
    started_at: START,
    memory_bytes: 1000,
    cpu_cores: 0.5,
    last_error: 'agent ended: OOMKilled, exit code 137',
  });
});

it.each<[string, V1Pod, object]>([
  ['starts', pod({ state: { waiting: { reason: 'ContainerCreating' } } }), { state: 'STARTING', reason: null }],
  [
    'gets no image',
    pod({ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }),
    { state: 'FAILED', reason: 'agent waits: ImagePullBackOff, no such image' },
  ],
  [
    'finds no node',
    pod({}, { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] }),
    { state: 'STARTING', reason: '0/3 nodes are available' },
  ],
  [
    'was evicted',
    pod({}, { phase: 'Failed', message: 'The node was low on memory.' }),
    { state: 'FAILED', reason: 'The node was low on memory.' },
  ],
  [
    'is being removed',
    pod({}, { conditions: READY }, { deletionTimestamp: START }),
    { state: 'STOPPING', reason: null, memory_bytes: null, last_error: null },
  ],
])('tells of a pod that %s', (_, found, expected) => {
  expect(podHealth(found)).toMatchObject(expected);
});

it('adds up quantities', () => {
  expect(sumOf([])).toBe(0);
  expect(sumOf(['250m', '1', '1500000n'])).toBeCloseTo(1.2515);
  expect(sumOf(['64Mi', '1k', '1Ki'])).toBe(64 * 1024 ** 2 + 2024);
});
