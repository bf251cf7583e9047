import fc from 'fast-check';
import { crashLoops, type ProcessHealth } from '@fairlead/executors';
import { EndedPods, ENDS_OF_LOOP, podHealth, RECOVERED_MS, STEADY_MS } from '@fairlead/executors/testing';
import { type Host, hostModel, reportHost } from '../rollout/host';
import { verdictOn } from './verdict';

type State = ProcessHealth['state'];
type V1Pod = Parameters<typeof podHealth>[0];

const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const LOOK_MS = 10_000;
const iso = (at: number) => new Date(at).toISOString();
const process = (state: State): ProcessHealth => ({
  ...{ name: 'p', state, reason: state === 'CRASH_LOOPING' ? 'Crash looping, 3 restarts, it ended' : null },
  ...{ revision_id: null, restarts: 0, started_at: null, memory_bytes: null, cpu_cores: null, last_error: null },
});

/** A run of a program, and the pause before the next one (ms). */
interface Run {
  readonly ran: number;
  readonly paused: number;
}

/** The state of a pod whose program ran so, at a moment (ms since its first start). */
function podAt(runs: readonly Run[], at: number, name = 'p'): V1Pod {
  let begin = 0;
  let lastState = {};
  let restartCount = 0;
  const pod = (state: object, ready: boolean, count: number): V1Pod => {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const container = { name: 'agent', state, lastState, restartCount: count, ready };
    return { metadata: { name, uid: name }, status: { conditions, containerStatuses: [container] } } as never;
  };
  for (const { ran, paused } of runs) {
    const end = begin + ran;
    if (at < end) break;
    const span = { startedAt: iso(BEGIN + begin), finishedAt: iso(BEGIN + end) };
    lastState = { terminated: { ...span, exitCode: 137, reason: 'OOMKilled', message: 'TOKEN=sesame' } };
    if (at < end + paused) return pod({ waiting: { reason: 'CrashLoopBackOff' } }, false, restartCount);
    begin = end + paused;
    restartCount++;
  }
  return pod({ running: { startedAt: iso(BEGIN + begin) } }, true, restartCount);
}

/** Ends in a row at a moment, as the executor `local` counts them: a process that has run for a minute begins anew. */
function rowAt(runs: readonly Run[], at: number): number {
  let begin = 0;
  let row = 0;
  for (const { ran, paused } of runs) {
    if (ran >= STEADY_MS && at - begin >= STEADY_MS) row = 0;
    if (at < begin + ran) return row;
    row++;
    if (at < begin + ran + paused) return row;
    begin += ran + paused;
  }
  return at - begin >= STEADY_MS ? 0 : row;
}

const run = fc.record({
  ran: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 50_000, max: 200_000 })),
  // As long as back-offs of Kubernetes are: a look sees each of them, and with it how long the run before was.
  paused: fc.integer({ min: LOOK_MS, max: 50_000 }),
});
const looksAt = (runs: readonly Run[]) => {
  const all = runs.reduce((sum, { ran, paused }) => sum + ran + paused, 0) + RECOVERED_MS + STEADY_MS;
  return Array.from({ length: Math.ceil(all / LOOK_MS) }, (_, index) => index * LOOK_MS);
};

interface Look {
  readonly states: readonly State[];
  readonly hasRecovered: boolean;
}

/** Looks at a pod whose program ran so. */
function looksAtPod(runs: readonly Run[]): Look[] {
  const ended = new EndedPods();
  return looksAt(runs).map((at) => {
    const pod = podAt(runs, at);
    const [ends] = ended.look('d', [pod], BEGIN + at);
    return { states: [podHealth(pod, undefined, ends).state], hasRecovered: ends!.hasRecovered };
  });
}

/** The events that are written while somebody looks at the processes of a deployment. */
function told(looks: readonly Look[]): { events: string[]; health: State[] } {
  const events: string[] = [];
  const health: State[] = [];
  let host: Host = { status: 'READY' };
  looks.forEach(({ states, hasRecovered }, index) => {
    const now = BEGIN + index * LOOK_MS;
    const isLoop = crashLoops(host.isCrashLooping ?? false, states, hasRecovered);
    const said = isLoop
      ? {
          status: 'UNKNOWN' as const,
          reason: `Crash looping, ${index} restarts, it ended`,
          crash_looping: true as const,
        }
      : { status: 'READY' as const };
    // What is restarting is said neither to run nor not to.
    const isSaid = isLoop || states.includes('RUNNING');
    for (const event of isSaid ? reportHost({ deployment_id: 'd', ...said }, now)(host) : []) {
      const recorded = { ...event, time: iso(now) } as never;
      host = hostModel.evolve(host, recorded);
      events.push(isLoop ? 'begin' : 'end');
    }
    const crashLoop = host.isCrashLooping ? host.reason : undefined;
    health.push(verdictOn(states.map(process), { crashLoop }).state as State);
  });
  return { events, health };
}

describe('a pod crash loops by the rule of the executor local', () => {
  it('from its third end in a row until it has run for a minute, for any runs', () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 25 }), (runs) => {
        const ended = new EndedPods();
        const looks = looksAt(runs).map((at) => {
          const pod = podAt(runs, at);
          const [ends] = ended.look('d', [pod], BEGIN + at);
          return { at, isDue: rowAt(runs, at) >= ENDS_OF_LOOP, ...podHealth(pod, undefined, ends) };
        });
        expect(looks.filter(({ state, isDue }) => (state === 'CRASH_LOOPING') !== isDue)).toEqual([]);
        expect(looks.filter(({ state, reason }) => state === 'FAILED' || reason?.includes('sesame'))).toEqual([]);
      }),
    );
  });

  it('and one that flips between ready and back-off seventy times writes two events', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ ran: fc.integer({ min: 1, max: 55_000 }), paused: fc.integer({ min: 1000, max: 55_000 }) }),
          {
            minLength: 35,
            maxLength: 35,
          },
        ),
        (runs) => {
          expect(told(looksAtPod(runs)).events).toEqual(['begin', 'end']);
        },
      ),
    );
  });

  it('and one that runs for some minutes in between, again and again, writes two events, too', () => {
    const loop = Array.from({ length: ENDS_OF_LOOP }, () => ({ ran: 5000, paused: 20_000 }));
    const pause = fc.integer({ min: LOOK_MS, max: 300_000 });
    const healthy = fc.record({ ran: fc.integer({ min: 1, max: RECOVERED_MS - 1 }), paused: pause });
    fc.assert(
      fc.property(fc.array(healthy, { maxLength: 8 }), (runs) => {
        const { events, health } = told(looksAtPod([...loop, ...runs]));
        expect(events).toEqual(['begin', 'end']);
        expect(health.at(-1)).toBe('RUNNING');
      }),
      { numRuns: 50 },
    );
  });

  it('and a loop after ten healthy minutes is another one', () => {
    const loop = Array.from({ length: ENDS_OF_LOOP }, () => ({ ran: 5000, paused: 20_000 }));
    const long = { ran: RECOVERED_MS + LOOK_MS, paused: 20_000 };
    expect(told(looksAtPod([...loop, long, ...loop])).events).toEqual(['begin', 'end', 'begin', 'end']);
  });
});

it('a deployment of several processes is never in turns STARTING and crash looping', () => {
  const state = fc.constantFrom<State>('RUNNING', 'STARTING', 'CRASH_LOOPING', 'STOPPING');
  fc.assert(
    fc.property(
      fc.array(fc.array(state, { minLength: 1, maxLength: 4 }), { maxLength: 40 }),
      fc.boolean(),
      (seen, long) => {
        const looks = seen.map((states) => ({ states, hasRecovered: long && states.includes('RUNNING') }));
        const { events, health } = told(looks);
        health.forEach((now, index) => {
          const { states } = looks[index]!;
          const isReady = states.includes('RUNNING') || states.every((one) => one === 'STOPPING');
          if (health[index - 1] === 'CRASH_LOOPING' && !isReady) expect(now).toBe('CRASH_LOOPING');
        });
        // Each of them ends the one before.
        events.forEach((event, index) => expect(event).toBe(index % 2 === 0 ? 'begin' : 'end'));
      },
    ),
  );
});

it('knows of pods only while they are there', () => {
  const runs = Array.from({ length: 5 }, () => ({ ran: 1000, paused: 1000 }));
  const ended = new EndedPods();
  const [first, other] = ended.look('d', [podAt(runs, 9500, 'a'), podAt([], 9500, 'b')], BEGIN + 9500);
  expect(first).toMatchObject({ loop: 'Crash looping, 5 restarts, agent ended: OOMKilled, exit code 137' });
  expect(other).toEqual({ looping: new Set(), isRestarting: false, hasRecovered: false });
  // One of the same name and another identity begins anew.
  const anew = podAt(runs.slice(0, 1), 1500, 'c');
  expect(ended.look('d', [anew], BEGIN + 1500)).toEqual([
    { looping: new Set(), isRestarting: true, hasRecovered: false },
  ]);
});

it('a program that is never ready crash loops however long it runs, and an init container that is done does not', () => {
  const ended = new EndedPods();
  const look = (restartCount: number, at: number, more: object) => {
    const container = { name: 'agent', restartCount, ready: false, ...more };
    const done = { name: 'init', restartCount: 4, ready: true, state: { terminated: { exitCode: 0 } } };
    const status = { initContainerStatuses: [done], containerStatuses: [container] };
    return ended.look('d', [{ metadata: { uid: 'p' }, status } as never], BEGIN + at)[0]!;
  };
  for (const count of [0, 1, 2]) {
    const begin = count * 200_000;
    const startedAt = iso(BEGIN + begin);
    const terminated = { startedAt, finishedAt: iso(BEGIN + begin + 90_000), exitCode: 137 };
    look(count, begin + 80_000, { state: { running: { startedAt } } });
    const { loop } = look(count, begin + 95_000, {
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated },
    });
    expect(loop).toBe(count < 2 ? undefined : 'Crash looping, 3 restarts, agent ended: Error, exit code 137');
  }
});
