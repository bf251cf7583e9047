import type { MonitorState } from '@fairlead/contracts';
import { fold, owned } from '@fairlead/eventing';
import { given, recorded } from '@fairlead/eventing/testing';
import { BadRequest } from '@fairlead/schema';
import fc from 'fast-check';
import {
  afterLook,
  changeMonitor,
  createMonitor,
  deleteMonitor,
  type Look,
  type Monitor,
  monitorAggregate,
  type MonitorEvent,
  monitorModel,
  NO_STREAKS,
  noteState,
} from './monitor';
import { InvalidMonitor, MonitorNotFound } from './monitor.errors';

const TENANT = 'tenant-1';
const subject = {
  project_id: 'p1',
  revision_id: null,
  measure: 'error_rate',
  feedback_key: null,
  alerts_when: 'above',
} as const;
const limits = { threshold: 0.2, recovery_threshold: 0.1, window_minutes: 60, min_runs: 20 };
const created = {
  type: 'MonitorCreated',
  data: { monitor_id: 'm1', tenant_id: TENANT, name: 'errors', ...subject, ...limits, looks: 3, enabled: true },
} satisfies MonitorEvent;
const mine = (decide: (state: Monitor) => MonitorEvent[]) => owned(monitorAggregate, TENANT, 'm1', decide);
const after = (...events: MonitorEvent[]) => fold(monitorModel, recorded([created, ...events]))!;

/** The events of a monitor that is looked at once for each of these looks. */
function lookedAt(looks: readonly Look[], first: Partial<(typeof created)['data']> = {}) {
  const all: MonitorEvent[] = [{ ...created, data: { ...created.data, ...first } as typeof created.data }];
  let streaks = NO_STREAKS;
  const states = looks.map((look) => {
    const monitor = fold(monitorModel, recorded(all))!;
    const next = afterLook(monitor, streaks, look);
    streaks = next.streaks;
    all.push(...noteState(monitor, next.state, look)(monitor));
    return fold(monitorModel, recorded(all))!.state;
  });
  return { states, events: all.slice(1), types: all.slice(1).map(({ type }) => type) };
}
const seen = (value: number | null, runs = 100): Look => ({ value, runs });
const failed: Look = { problem: 'It took too long.' };

describe('A monitor', () => {
  it('is created once', () => {
    given(monitorModel).when(createMonitor(created.data)).then(created);
    given(monitorModel, created).when(createMonitor(created.data)).then();
  });

  it.each<[string, object]>([
    ['a score without a key', { measure: 'score' }],
    ['a key of what is no score', { feedback_key: 'ok' }],
    ['a recovery beyond the threshold', { recovery_threshold: 0.3 }],
    ['a recovery beyond the threshold below', { alerts_when: 'below', recovery_threshold: 0.1 }],
  ])('is not created with %s', (_, wrong) => {
    given(monitorModel)
      .when(createMonitor({ ...created.data, ...wrong }))
      .throws(InvalidMonitor);
  });

  it('changes what differs, and never what it looks at', () => {
    given(monitorModel, created)
      .when(mine(changeMonitor({ name: 'errors', threshold: 0.2, project_id: 'p1' })))
      .then();
    given(monitorModel, created)
      .when(mine(changeMonitor({ threshold: 0.5, recovery_threshold: null })))
      .then({ type: 'MonitorChanged', data: { threshold: 0.5, recovery_threshold: null } });
    given(monitorModel, created)
      .when(mine(changeMonitor({ measure: 'cost' })))
      .throws(BadRequest, 'measure cannot be changed after creation.');
    given(monitorModel, created)
      .when(mine(changeMonitor({ threshold: 0.05 })))
      .throws(InvalidMonitor);
  });

  it('is gone once it is deleted', () => {
    const deleted: MonitorEvent = {
      type: 'MonitorDeleted',
      data: { name: 'errors', project_id: 'p1', reason: 'requested' },
    };
    given(monitorModel, created)
      .when(mine(deleteMonitor('requested')))
      .then(deleted);
    given(monitorModel, created, deleted)
      .when(mine(changeMonitor({ name: 'other' })))
      .throws(MonitorNotFound);
    given(monitorModel, created)
      .when(owned(monitorAggregate, 'tenant-2', 'm1', deleteMonitor('requested')))
      .throws(MonitorNotFound);
    given(monitorModel, created, deleted)
      .when(noteState(after(), 'alerting', seen(1)))
      .then();
  });

  it('tells what it alerts about, and since when', () => {
    given(monitorModel, created)
      .when(noteState(after(), 'alerting', seen(0.3, 50)))
      .thenState((monitor, [event]) => {
        expect(event).toEqual({
          type: 'MonitorAlerted',
          data: {
            ...{ name: 'errors', ...subject, ...limits, state: 'alerting', previous_state: 'not_enough_evidence' },
            ...{ value: 0.3, runs: 50, reason: null },
          },
        });
        expect(monitor).toMatchObject({ state: 'alerting', alerting_since: '2026-01-01T00:00:01.000Z', edition: 1 });
      });
  });

  it('has one event when two processes found the same, or a client changed it meanwhile', () => {
    const monitor = after();
    const [alerted] = noteState(monitor, 'alerting', seen(1))(monitor);
    given(monitorModel, created, alerted!)
      .when(noteState(monitor, 'alerting', seen(1)))
      .then();
    given(monitorModel, created, { type: 'MonitorChanged', data: { enabled: false } })
      .when(noteState(monitor, 'alerting', seen(1)))
      .then();
  });
});

describe('The state after looks', () => {
  const [good, bad, between] = [seen(0.05), seen(0.5), seen(0.15)];
  it.each<[string, Look[], string[]]>([
    ['alerts after three looks in a row', [bad, bad, bad, bad], ['MonitorAlerted']],
    ['alerts not when one of them is good', [bad, bad, good, bad, bad], []],
    ['alerts when a look between them failed or found little', [bad, failed, bad, seen(0, 3), bad], ['MonitorAlerted']],
    ['recovers below the other threshold', [bad, bad, bad, good, good, good], ['MonitorAlerted', 'MonitorRecovered']],
    ['stays between the two', [bad, bad, bad, between, between, between, between], ['MonitorAlerted']],
    ['is good between the two at first', [between, between, between], ['MonitorStateChanged']],
    ['says once that looks fail', [failed, failed, failed, failed], ['MonitorStateChanged']],
    [
      'does not recover while nothing is known, and alerts no second time',
      [bad, bad, bad, failed, seen(null, 0), failed, bad, bad, bad],
      ['MonitorAlerted', 'MonitorStateChanged', 'MonitorStateChanged'],
    ],
    [
      'recovers when what is known again is good',
      [bad, bad, bad, seen(0, 3), seen(0, 3), seen(0, 3), good, good, good],
      ['MonitorAlerted', 'MonitorStateChanged', 'MonitorRecovered'],
    ],
  ])('%s', (_, looks, types) => {
    expect(lookedAt(looks).types).toEqual(types);
  });

  const number = fc.double({ min: -10, max: 10, noNaN: true });
  const limitsOf = fc
    .record({ one: number, other: number, looks: fc.integer({ min: 1, max: 5 }), isAbove: fc.boolean() })
    .map(({ one, other, looks, isAbove }) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const [threshold, recovery_threshold] = isAbove ? [high, low] : [low, high];
      return { low, high, threshold, recovery_threshold, looks, alerts_when: isAbove ? 'above' : 'below' } as const;
    });
  const value = fc.oneof(number, fc.integer({ min: -10, max: 10 }));
  const anyLook: fc.Arbitrary<Look> = fc.oneof(
    value.map((one) => seen(one)),
    fc.record({ value: fc.option(number), runs: fc.integer({ min: 0, max: 19 }) }),
    fc.constant(failed),
  );
  const verdict = (state: MonitorState) => state === 'ok' || state === 'alerting';

  it('never changes between the two thresholds, for any series', () => {
    const inside = limitsOf.chain(({ low, high, ...more }) =>
      fc.record({
        first: fc.constant(more),
        start: fc.array(anyLook, { maxLength: 20 }),
        looks: fc.array(
          fc.double({ min: low, max: high, noNaN: true }).map((one) => seen(one)),
          { maxLength: 40 },
        ),
      }),
    );
    fc.assert(
      fc.property(inside, ({ first, start, looks }) => {
        const { states } = lookedAt([...start, ...looks], first as never);
        const [before] = states.slice(0, start.length).filter(verdict).slice(-1);
        const later = states.slice(start.length).filter(verdict);
        // What has no verdict yet is good there.
        expect(new Set(later).size).toBeLessThanOrEqual(1);
        if (before !== undefined && later.length > 0) expect(later[0]).toBe(before);
      }),
    );
  });

  it('alerts only after as many looks in a row with enough runs, all beyond the threshold, and one by one', () => {
    fc.assert(
      fc.property(limitsOf, fc.array(anyLook, { maxLength: 80 }), (first, looks) => {
        const { states, types } = lookedAt(looks, first as never);
        const isBeyond = (look: Look, limit: number) =>
          'value' in look && (first.alerts_when === 'above' ? look.value! > limit : look.value! < limit);
        const measured = (end: number) => {
          return looks
            .slice(0, end + 1)
            .filter((look) => 'value' in look && look.value !== null && look.runs >= 20)
            .slice(-first.looks);
        };
        states.forEach((state, index) => {
          const before = states[index - 1] ?? 'not_enough_evidence';
          if (state === before) return;
          if (state === 'failing') expect(looks[index]).toBe(failed);
          if (!verdict(state)) return;
          // A look that fails or finds little never makes a verdict.
          expect(looks[index]).toMatchObject({ value: expect.any(Number), runs: 100 });
          const limits = [first.threshold, first.recovery_threshold];
          const isAlert = measured(index).every((look) => limits.some((limit) => isBeyond(look, limit)));
          const isFull = measured(index).length === first.looks;
          if (state === 'alerting') expect([isFull, isAlert]).toEqual([true, true]);
          if (before === 'alerting') {
            expect(measured(index).every((look) => !isBeyond(look, first.recovery_threshold))).toBe(true);
          }
        });
        const told = types.filter((type) => type !== 'MonitorStateChanged');
        told.forEach((type, index) => expect(type).toBe(index % 2 === 0 ? 'MonitorAlerted' : 'MonitorRecovered'));
      }),
    );
  });

  it('too few runs never alert, and failed looks never change a verdict', () => {
    const nothing = fc.oneof(
      fc.constant(failed),
      value.chain((one) => fc.integer({ min: 0, max: 19 }).map((runs) => seen(one, runs))),
    );
    fc.assert(
      fc.property(limitsOf, fc.array(nothing, { maxLength: 60 }), (first, looks) => {
        const { states, types } = lookedAt(looks, first as never);
        expect(states.filter(verdict)).toEqual([]);
        expect(types.filter((type) => type !== 'MonitorStateChanged')).toEqual([]);
      }),
    );
  });
});
