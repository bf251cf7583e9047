import fc from 'fast-check';
import { type Gate, previewOf } from '@fairlead/contracts';
import { fold } from '@fairlead/eventing';
import { create, patch } from './change';
import { type Deployment, deploymentModel } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { afterGates, declareGates, hold, override, promote, refuse } from './gates';
import { buildPush } from './push';
import { RanBefore } from './ran-before';
import { interrupt, redeploy, reportRevision, type Revisions, revisionsModel, takeBack } from './revision';
import { codehost, creation, streamOf, uuidOf } from '../testing/samples';

const gate = (more: Partial<Gate> = {}): Gate => ({
  ...{ name: 'support questions', dataset_id: uuidOf(77), baseline: 'active', keys: { correct: { max_drop: 0.05 } } },
  ...{ measures: {}, min_rows: 30, max_age_days: 30, wait_days: 7 },
  ...more,
});

it('lets a held revision have the secrets only with a scope and a reason', () => {
  const subject = new Subject();
  const shown = gate({ preview: true });
  const secret = gate({ preview: true, preview_secrets: true });
  subject.decide(declareGates([shown], false));
  expect(() => declareGates([shown, { ...secret, name: 'more' }], false)(subject.state)).toThrow('preview_secrets');
  expect(() => declareGates([gate({ preview_secrets: true })], true)(subject.state)).toThrow('without preview');
  subject.decide(declareGates([shown, { ...secret, name: 'more' }], true));
  // What it has already, another gate may say as well.
  subject.decide(declareGates([shown, { ...secret, name: 'more' }, { ...secret, name: 'again' }], false));
  expect(previewOf(subject.state.gates)).toEqual({ secrets: true });
  expect([previewOf([shown]), previewOf([gate()])]).toEqual([{ secrets: false }, undefined]);
});

/** A deployment that is changed by decisions; each event is folded once. */
class Subject {
  events: DeploymentEvent[] = creation(1, codehost('agent'));
  private folded = 0;
  private known: [Deployment | null, Revisions] = [deploymentModel.initial, revisionsModel.initial];

  get state(): Deployment {
    return this.fold()[0]!;
  }

  get revisions(): Revisions {
    return this.fold()[1];
  }

  private fold() {
    const events = streamOf(1, this.events.slice(this.folded), this.folded + 1);
    this.known = [fold(deploymentModel, events, this.known[0]), fold(revisionsModel, events, this.known[1])];
    this.folded = this.events.length;
    return this.known;
  }

  decide(decide: (state: Deployment) => readonly DeploymentEvent[]): DeploymentEvent[] {
    const decided = [...decide(this.state)];
    this.events.push(...decided);
    return decided;
  }

  status(id: string): string {
    return this.revisions.get(id)!.status;
  }

  /** Takes a revision to the point where its gates are asked. */
  build(id: string): void {
    for (const status of ['AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY'] as const) {
      this.decide(reportRevision(id, status));
    }
    this.decide(hold(id, [gate()], Date.UTC(2026, 0, 1)));
  }

  deploy(id: string, commit?: string): void {
    this.decide(reportRevision(id, 'DEPLOYING', 'local', commit));
    this.decide(reportRevision(id, 'DEPLOYED', 'local'));
  }

  rollBack(id: string, newest: string, more: { keepSecrets?: boolean; mayOverride?: boolean } = {}): DeploymentEvent[] {
    const ran = new RanBefore(id);
    ran.take(this.events);
    return this.decide(redeploy(this.revisions.get(id)!, newest, 'any', { ...more, ran }));
  }

  push(id: string): void {
    this.decide(patch({ source_revision_config: { repo_ref: id } }, id, 'any'));
  }
}

const [FIRST, SECOND, THIRD] = [uuidOf(1001), uuidOf(2), uuidOf(3)];
let subject: Subject;
beforeEach(() => {
  subject = new Subject();
  subject.build(FIRST);
  subject.deploy(FIRST);
});

it('holds a revision that is made after the gate, until its verdict', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.build(SECOND);
  expect(subject.events.at(-1)).toEqual({
    type: 'RevisionHeld',
    data: { revision_id: SECOND, gates: [gate()], active_revision_id: FIRST, until: '2026-01-08T00:00:00.000Z' },
  });
  expect(subject.state).toMatchObject({ running: null, active_revision_id: FIRST, held: { id: SECOND } });
  expect(subject.status(SECOND)).toBe('AWAITING_DEPLOY');
  expect(subject.decide(reportRevision(SECOND, 'DEPLOYING'))).toEqual([]);
  subject.decide(promote(SECOND));
  subject.deploy(SECOND);
  expect(subject.state).toMatchObject({ running: null, active_revision_id: SECOND });
  expect(subject.state.held).toBeUndefined();
});

it('ends a revision that is refused, with the reasons', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.build(SECOND);
  expect(subject.decide(refuse(SECOND, ['It is worse.', 'By far.']))).toEqual([
    {
      type: 'RevisionStatusChanged',
      data: {
        ...{ revision_id: SECOND, previous_status: 'AWAITING_DEPLOY', status: 'DEPLOY_FAILED' },
        reason: 'It is worse. By far.',
      },
    },
  ]);
  expect(subject.state).toMatchObject({ running: null, active_revision_id: FIRST });
  expect(subject.decide(promote(SECOND))).toEqual([]);
});

it('skips a held revision when there is a newer one, which runs at once', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.build(SECOND);
  subject.push(THIRD);
  expect(subject.status(SECOND)).toBe('SKIPPED');
  subject.decide(reportRevision(THIRD, 'AWAITING_BUILD'));
  expect(subject.state.running).toEqual({ id: THIRD, status: 'AWAITING_BUILD', gated: true });
});

it('skips a revision that is ready while a newer one waits already', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.decide(reportRevision(SECOND, 'AWAITING_BUILD'));
  subject.push(THIRD);
  subject.build(SECOND);
  expect(subject.status(SECOND)).toBe('SKIPPED');
  expect(subject.status(THIRD)).toBe('AWAITING_BUILD');
});

it('interrupts a held revision', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.build(SECOND);
  subject.decide(interrupt(SECOND));
  expect(subject.status(SECOND)).toBe('INTERRUPTED');
  expect(subject.state.held).toBeUndefined();
});

it('is overridden before a revision is ready, or while it is held, and not otherwise', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.decide(override(SECOND));
  subject.build(SECOND);
  expect(subject.state.running).toMatchObject({ id: SECOND, status: 'AWAITING_DEPLOY' });
  expect(() => subject.decide(override(SECOND))).toThrow(`Revision ID ${SECOND} is not held by gates.`);
  subject.deploy(SECOND);
  expect(() => subject.decide(override(SECOND))).toThrow(`Revision ID ${SECOND} has already ended.`);
});

/** Two revisions that ran, of the commits `one` and `two`, and gates after that. */
function ranTwice(): void {
  subject = new Subject();
  subject.build(FIRST);
  subject.deploy(FIRST, 'one');
  subject.push(SECOND);
  subject.build(SECOND);
  subject.deploy(SECOND, 'two');
  subject.decide(declareGates([gate()], false));
}

it('lets what ran before through as a whole', () => {
  ranTwice();
  expect(subject.rollBack(FIRST, THIRD)[0]!.data).not.toHaveProperty('gates');
});

it('overrides the gates of a roll-back with other secrets, for an admin with a reason', () => {
  ranTwice();
  const secret = { name: 'KEY', sealed: { subject: 'd', sealed: 's' }, digest: 'other' };
  subject.events.push({ type: 'DeploymentPatched', data: { secrets: [secret] } });
  expect(() => subject.rollBack(FIRST, THIRD, { keepSecrets: true })).toThrow('needs a key with the scope admin');
  const events = subject.rollBack(FIRST, THIRD, { keepSecrets: true, mayOverride: true });
  expect(events.map(({ type }) => type)).toContain('RevisionReleased');
  expect(events[0]!.data).toMatchObject({ gates: [gate()] });
});

it.each<[what: string, act: () => void]>([
  [
    'it was built by another command',
    () => subject.decide(patch({ source_config: { build_command: 'make' } }, '', 'any')),
  ],
  [
    'its packages were installed otherwise',
    () => subject.decide(patch({ source_config: { install_command: 'x' } }, '', 'any')),
  ],
])('holds a roll-back when %s', (_, act) => {
  ranTwice();
  act();
  expect(subject.rollBack(FIRST, THIRD)[0]!.data).toMatchObject({ gates: [gate()] });
});

it('holds a roll-back to a branch whose commit is not known, or whose commands changed while it was built', () => {
  const commandAfter = (status: 'BUILDING' | 'DEPLOYED', commit?: string) => {
    subject = new Subject();
    for (const at of ['AWAITING_BUILD', 'BUILDING'] as const) subject.decide(reportRevision(FIRST, at));
    const change = () => subject.decide(patch({ source_config: { build_command: 'make' } }, '', 'any'));
    if (status === 'BUILDING') change();
    subject.decide(reportRevision(FIRST, 'AWAITING_DEPLOY'));
    subject.deploy(FIRST, commit);
    subject.decide(declareGates([gate()], false));
    return subject.rollBack(FIRST, SECOND)[0]!.data;
  };
  expect(commandAfter('BUILDING', 'one')).toHaveProperty('gates');
  expect(commandAfter('DEPLOYED')).toHaveProperty('gates');
  expect(commandAfter('DEPLOYED', 'one')).not.toHaveProperty('gates');
});

it('holds a revision again whose earlier one never ran', () => {
  subject.decide(declareGates([gate()], false));
  subject.push(SECOND);
  subject.build(SECOND);
  subject.decide(refuse(SECOND, ['It is worse.']));
  const [created] = subject.rollBack(SECOND, THIRD);
  expect(created!.data).toMatchObject({ gates: [gate()] });
});

it('takes a gate more from anybody, and another or fewer only from an admin with a reason', () => {
  const other = gate({ name: 'other' });
  subject.decide(declareGates([gate()], false));
  expect(subject.decide(declareGates([gate()], false))).toEqual([]);
  subject.decide(declareGates([gate(), other], false));
  for (const weaker of [[gate()], [gate(), { ...other, min_rows: 2 }], []]) {
    expect(() => subject.decide(declareGates(weaker, false))).toThrow('needs a key with the scope admin, and a reason');
  }
  expect(() => subject.decide(declareGates([gate(), gate()], true))).toThrow('Two gates have the name');
  subject.decide(declareGates([], true));
  expect(subject.state.gates).toBeUndefined();
});

it('holds the first revision by gates that come with the deployment', () => {
  const wanted = { ...codehost('agent'), secrets: [], gates: [gate()] };
  const ids = { deploymentId: uuidOf(1), revisionId: FIRST };
  const events = create(wanted, uuidOf(9), ids, 'any')(null);
  expect(events.map(({ type }) => type)).toEqual(['DeploymentCreated', 'GatesDeclared', 'RevisionCreated']);
  expect(events[2]!.data).toMatchObject({ revision_id: FIRST, gates: [gate()] });
  expect(() => create({ ...wanted, gates: [gate(), gate()] }, uuidOf(9), ids, 'any')(null)).toThrow('Two gates');
});

it('holds the revision of the change that declares gates, and none that the change does not make', () => {
  const push = (id: string, gates: Gate[], mayWeaken = false) =>
    subject.decide(afterGates(gates, mayWeaken, patch({ source_revision_config: { repo_ref: id } }, id, 'any')));
  const [declared, , created] = push(SECOND, [gate()]);
  expect([declared!.type, created!.data]).toEqual(['GatesDeclared', expect.objectContaining({ gates: [gate()] })]);
  expect(() => push(THIRD, [])).toThrow('needs a key with the scope admin, and a reason');
  expect(push(THIRD, [], true).find(({ type }) => type === 'RevisionCreated')!.data).not.toHaveProperty('gates');
});

type Act = (subject: Subject, revision: string, newest: string) => void;

/** Whatever may happen to a deployment and one of its revisions; `newest` is the id of a revision to make. */
const ACTS: readonly Act[] = [
  (one, _, newest) => one.push(newest),
  (one, _, newest) => {
    const push = { repo_url: '', ref: 'main', repo_commit_sha: newest, deployments: [uuidOf(1)] };
    one.decide(buildPush({ ...push, ref: one.state.source_revision_config.repo_ref ?? '' }, newest));
  },
  (one, id, newest) => one.rollBack(id, newest),
  (one, id, newest) => {
    one.rollBack(id, newest, { keepSecrets: true, mayOverride: true });
    one.build(newest);
    one.deploy(newest, id);
  },
  (one, id, newest) => {
    one.decide(patch({ secrets: [{ name: 'KEY', sealed: { subject: 'd', sealed: id }, digest: id }] }, newest, 'any'));
  },
  (one, id, newest) => one.rollBack(id, newest, { keepSecrets: true }),
  (one, id) => one.decide(patch({ source_config: { install_command: id } }, '', 'any')),
  (one, id) => one.decide(hold(id, [gate()], 0)),
  (one, id) => one.build(id),
  (one, id) => one.deploy(id, id),
  (one, id) => one.decide(interrupt(id)),
  (one, id) => {
    one.decide(promote(id));
    one.deploy(id);
  },
  (one, id, newest) =>
    one.decide(afterGates([gate()], true, patch({ source_revision_config: { repo_ref: id + newest } }, newest, 'any'))),
  (one, _, newest) =>
    one.decide(afterGates([], true, patch({ source_revision_config: { repo_ref: newest } }, newest, 'any'))),
  (one) => one.state.held && one.decide(promote(one.state.held.id)),
  (one, id) => one.decide(refuse(id, ['Worse.'])),
  (one, id) => one.decide(override(id)),
  (one) => one.decide(declareGates([gate()], true)),
  (one) => one.decide(declareGates([gate(), gate({ name: 'other' })], true)),
  (one) => one.decide(declareGates([], true)),
  (one, id) => one.state.active_revision_id && one.decide(takeBack(one.state.active_revision_id, id, 'It ended.')),
  ...(['AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED', 'BUILD_FAILED'] as const).map(
    (status): Act =>
      (one, id) =>
        one.decide(reportRevision(id, status, 'local')),
  ),
];

it('has no path to the active revision without a verdict, a recorded override or a snapshot that ran before', () => {
  const reached = new Map<string, number>();
  const steps = fc.array(fc.tuple(fc.nat(ACTS.length - 1), fc.nat(2)), { minLength: 10, maxLength: 60 });
  fc.assert(
    fc.property(steps, (script) => {
      const one = new Subject();
      script.forEach(([act, place], index) => {
        const ids = [...one.revisions.keys()];
        try {
          ACTS[act]!(one, ids.at(-1 - (place % ids.length))!, uuidOf(10 + index));
        } catch (error) {
          if (!(error instanceof Error) || error.name === 'TypeError') throw error;
        }
      });
      check(one.events, reached);
    }),
    { numRuns: 400, seed: 20_261_128 },
  );
  for (const way of ['no gate', 'ran before', 'verdict', 'override', 'roll back']) {
    expect(`${way}: ${reached.get(way) ?? 0}`).not.toBe(`${way}: 0`);
  }
});

/** Follows the events alone, without the model. @throws Error for a revision that became active without leave */
function check(events: readonly DeploymentEvent[], reached: Map<string, number>): void {
  let gates: readonly Gate[] = [];
  let command: string | undefined;
  const commands = new Map<string, string | undefined>();
  const leave = new Map<string, string>();
  const ran = new Set<string>();
  for (const { type, data } of events) {
    if (type === 'GatesDeclared') gates = data.gates;
    if (type === 'DeploymentPatched') command = data.source_config?.install_command ?? command;
    if (type === 'RevisionCreated') {
      commands.set(data.revision_id, command);
      const { redeployed_from: from = '' } = data;
      if (gates.length === 0) leave.set(data.revision_id, 'no gate');
      else if (!data.gates && ran.has(from) && commands.get(from) === command)
        leave.set(data.revision_id, 'ran before');
    }
    if (type === 'RevisionReleased') leave.set(data.revision_id, data.by);
    if (type === 'RevisionActivated' && data.reason === undefined) {
      const way = leave.get(data.revision_id);
      if (way === undefined) throw new Error(`Revision ${data.revision_id} has become active without leave.`);
      reached.set(way, (reached.get(way) ?? 0) + 1);
      ran.add(data.revision_id);
    }
  }
}
