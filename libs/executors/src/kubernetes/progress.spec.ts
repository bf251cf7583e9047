import type { CoreV1Event, V1Deployment, V1DeploymentStatus, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { Progress } from './progress';

const PATIENCE = { errors: 60, noProgress: 10, steady: 30 };
const ALL = { replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

const deployment = (status: V1DeploymentStatus = ALL, replicas = 2): V1Deployment => ({
  metadata: { generation: 2 },
  spec: { replicas, selector: {}, template: {} },
  status: { observedGeneration: 2, ...status },
});
const pod = (status: V1PodStatus, name = 'p'): V1Pod => ({ metadata: { name }, status });
const warning = (reason: string, message: string): CoreV1Event => {
  return { type: 'Warning', reason, message, involvedObject: { name: 'p' }, metadata: {} };
};
const container = (state: object, lastState?: object, restartCount = 0) => {
  return { name: 'agent', image: 'a', imageID: '', ready: false, restartCount, state, lastState };
};
const agent = (...parts: Parameters<typeof container>) => pod({ containerStatuses: [container(...parts)] });
const crashed = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
const condition = (type: string, reason: string, message: string) => [{ type, status: 'False', reason, message }];
const starting = { containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] };

let progress: Progress;
beforeEach(() => {
  progress = new Progress('d', 1, PATIENCE);
});

describe('a rollout is done', () => {
  it.each([
    { when: 'all replicas are new and available', status: ALL, done: true },
    { when: 'a new one is not available', status: { ...ALL, availableReplicas: 1 }, done: false },
    { when: 'an old one is left', status: { ...ALL, replicas: 3 }, done: false },
    { when: 'one is still old', status: { ...ALL, updatedReplicas: 1 }, done: false },
    { when: 'the status is not that of this revision', status: { ...ALL, observedGeneration: 1 }, done: false },
  ])('when $when: $done', ({ status, done }) => {
    expect(progress.look(deployment(status), [], [], 0).isDone).toBe(done);
  });

  it('when there are none and none are wanted', () => {
    expect(progress.look(deployment({}, 0), [], [], 0).isDone).toBe(true);
  });

  it('when there are as many as the least, although fewer are asked for yet', () => {
    const wide = new Progress('d', 3, PATIENCE);
    expect(wide.look(deployment(ALL), [], [], 0).isDone).toBe(false);
    const three = { replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
    expect(wide.look(deployment(three), [], [], 1).isDone).toBe(true);
  });

  it('when a container that was started again has run for a while', () => {
    const restarted = agent({ running: {} }, crashed, 1);
    expect(progress.look(deployment(), [restarted], [], 0).isDone).toBe(false);
    expect(progress.look(deployment(), [restarted], [], 29).isDone).toBe(false);
    expect(progress.look(deployment(), [restarted], [], 30).isDone).toBe(true);
  });
});

describe('an error that does not mend itself', () => {
  const image = (reason: string, message: string) => agent({ waiting: { reason, message } });
  const quota = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }];
  const failedInit = { ...container({ terminated: { exitCode: 3, message: 'no migration' } }), name: 'init' };
  it.each<[what: string, conditions: object[], pod: V1Pod | undefined, event: CoreV1Event | undefined, cause: string]>([
    ['pods refused', quota, undefined, undefined, 'Pods cannot be created: FailedCreate, exceeded quota'],
    ['no image', [], image('ErrImagePull', 'no x:1'), undefined, 'p/agent waits: ErrImagePull, no x:1'],
    ['a name of no image', [], image('InvalidImageName', 'X'), undefined, 'p/agent waits: InvalidImageName, X'],
    [
      'no key',
      [],
      image('CreateContainerConfigError', 'no key'),
      undefined,
      'p/agent waits: CreateContainerConfigError, no key',
    ],
    ['no command', [], image('RunContainerError', 'no /x'), undefined, 'p/agent waits: RunContainerError, no /x'],
    ['a crash', [], agent(crashed), undefined, 'p/agent ended with exit code 137: OOMKilled'],
    [
      'a crash loop',
      [],
      agent(
        { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
        { terminated: { exitCode: 0, reason: 'Completed' } },
      ),
      undefined,
      'p/agent ended with exit code 0: Completed',
    ],
    [
      'an init container',
      [],
      pod({ ...starting, initContainerStatuses: [failedInit] }),
      undefined,
      'p/init ended with exit code 3: no migration',
    ],
    [
      'no volume claim',
      [],
      pod({ conditions: condition('PodScheduled', 'Unschedulable', 'persistentvolumeclaim "x" not found') }),
      undefined,
      'p cannot be scheduled: Unschedulable, persistentvolumeclaim "x" not found',
    ],
    [
      'no config map',
      [],
      pod(starting),
      warning('FailedMount', 'configmap "x" not found'),
      'p cannot mount its volumes: configmap "x" not found',
    ],
  ])('fails a rollout after its time: %s', (_, conditions, found, event, cause) => {
    const at = deployment({ conditions: conditions as never });
    const look = (now: number) => progress.look(at, found ? [found] : [], event ? [event] : [], now);
    expect(look(0)).toMatchObject({ isDone: false, lines: expect.arrayContaining([cause]) });
    expect(look(59).isDone).toBe(false);
    expect(() => look(60)).toThrow(cause);
    expect(progress.cause).toBe(cause);
  });

  it('counts anew when it has passed in between', () => {
    progress.look(deployment(), [agent(crashed)], [], 0);
    progress.look(deployment(), [agent({ running: {} })], [], 50);
    progress.look(deployment(), [agent(crashed)], [], 60);
    expect(() => progress.look(deployment(), [agent(crashed)], [], 120)).toThrow('exit code 137');
  });

  it('counts on while its reasons alternate', () => {
    const started = { terminated: { exitCode: 128, reason: 'StartError' } };
    const look = (reason: string, now: number, lastState?: object) =>
      progress.look(deployment(), [agent({ waiting: { reason, message: 'no /x' } }, lastState)], [], now);
    look('RunContainerError', 0);
    look('CrashLoopBackOff', 20, started);
    look('RunContainerError', 40, started);
    expect(() => look('CrashLoopBackOff', 60, started)).toThrow('p/agent waits: RunContainerError, no /x');
  });

  it('counts on in another pod, and keeps its first words unless later ones tell more', () => {
    const wait = (reason: string, message: string, name: string) =>
      pod({ containerStatuses: [container({ waiting: { reason, message } })] }, name);
    progress.look(deployment(), [wait('ImagePullBackOff', 'Back-off pulling', 'p1')], [], 0);
    progress.look(deployment(), [wait('ErrImagePull', 'unauthorized', 'p1')], [], 20);
    progress.look(deployment(), [wait('ImagePullBackOff', 'Back-off pulling', 'p2')], [], 40);
    expect(() => progress.look(deployment(), [wait('ImagePullBackOff', '', 'p2')], [], 60)).toThrow(
      'p1/agent waits: ErrImagePull, unauthorized',
    );
  });
});

describe('what may mend itself', () => {
  const full = pod({ conditions: condition('PodScheduled', 'Unschedulable', '0/3 nodes are available') });

  it.each<[what: string, pod: V1Pod, event: CoreV1Event | undefined, cause: string]>([
    ['a full cluster', full, undefined, 'p cannot be scheduled: Unschedulable, 0/3 nodes are available'],
    ['a probe', pod({}), warning('Unhealthy', 'Readiness probe failed'), 'p: Unhealthy, Readiness probe failed'],
    ['a slow disk', pod(starting), warning('FailedMount', 'timed out'), 'p cannot mount its volumes: timed out'],
    [
      'an eviction',
      pod({ phase: 'Failed', reason: 'Evicted', message: 'disk' }),
      undefined,
      'p has failed: Evicted, disk',
    ],
  ])('is told and waited for: %s', (_, found, event, cause) => {
    for (const now of [0, 1000]) progress.look(deployment(), [found], event ? [event] : [], now);
    expect(progress.cause).toBe(cause);
  });

  it('is the cause when Kubernetes gives up', () => {
    const conditions = condition('Progressing', 'ProgressDeadlineExceeded', 'timed out');
    progress.look(deployment({ conditions }), [full], [], 0);
    expect(() => progress.look(deployment({ conditions }), [full], [], 10)).toThrow(
      /^p cannot be scheduled.*\(d: timed out\)$/,
    );
  });
});

it('Kubernetes may say of the revision before that it has given up', () => {
  const conditions = condition('Progressing', 'ProgressDeadlineExceeded', 'timed out');
  expect(progress.look(deployment({ conditions, replicas: 2 }), [], [], 0).isDone).toBe(false);
  expect(progress.look(deployment(), [], [], 10).isDone).toBe(true);
  progress.look(deployment({ conditions }), [], [], 20);
  expect(() => progress.look(deployment({ conditions }), [], [], 30)).toThrow('d: timed out');
});

it.each<[what: string, pod: V1Pod, events: CoreV1Event[]]>([
  [
    'the pod can start containers',
    pod({ ...starting, conditions: [{ type: 'PodReadyToStartContainers', status: 'True' }] }),
    [],
  ],
  ['an image is pulled', pod(starting), [{ ...warning('Pulling', 'pulling a'), type: 'Normal' }]],
])('a volume that could not be mounted is no trouble once %s', (_, found, events) => {
  const failed = warning('FailedMount', 'configmap "x" not found');
  progress.look(deployment(), [pod(starting)], [failed], 0);
  expect(progress.cause).toMatch(/cannot mount/);
  for (const now of [1, 60, 120]) progress.look(deployment(), [found], [failed, ...events], now);
  expect(progress.cause).toBeUndefined();
});

it('pods that are going away no longer count', () => {
  const leaving = agent(crashed);
  leaving.metadata!.deletionTimestamp = new Date(0);
  expect(progress.look(deployment(), [leaving], [], 0).isDone).toBe(true);
});
