import { fold, owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import { TENANT } from '@fairlead/edge/testing';
import { HistoryFold } from './audit';
import { create, patch } from './change';
import { type Deployment, deploymentAggregate, deploymentModel, snapshotOf } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { InvalidDeployment } from './deployment.errors';
import { buildPush, resolveCommit } from './push';
import { redeploy, reportRevision, revisionOf, revisionsModel, skipWarning } from './revision';
import { CommitUnknown } from './revision.errors';
import { codehost, streamOf, uuidOf } from '../testing/samples';

const SHA = 'a'.repeat(40);
const NEWER = 'b'.repeat(40);
const [ID, FIRST, SECOND, THIRD] = [uuidOf(1), uuidOf(1001), uuidOf(1002), uuidOf(1003)];
const pushed = { repo_url: 'https://code.example/team/agent', ref: 'refs/heads/main', repo_commit_sha: NEWER };
const base = codehost('agent');
const born = create(
  { ...base, source_config: { ...base.source_config, build_on_push: true } },
  TENANT,
  { deploymentId: ID, revisionId: FIRST },
  'any',
)(null);
const resolved: DeploymentEvent = {
  type: 'RevisionCommitResolved',
  data: { revision_id: FIRST, repo_commit_sha: SHA },
};

const mine = (decide: (state: Deployment) => DeploymentEvent[]) => owned(deploymentAggregate, TENANT, ID, decide);
const on = (...events: DeploymentEvent[]) => given(deploymentModel, ...born, ...events);
const deploymentAfter = (...events: DeploymentEvent[]) => fold(deploymentModel, streamOf(1, [...born, ...events]))!;
const revisionAfter = (id: string, ...events: DeploymentEvent[]) =>
  revisionOf(fold(revisionsModel, streamOf(1, [...born, ...events])), id);

describe('a push', () => {
  it('to the followed branch makes a revision of its commit, with everything else as it was', () => {
    on(resolved)
      .when(mine(buildPush(pushed, SECOND)))
      .thenState((state, events) => {
        expect(events).toHaveLength(1);
        expect(state?.latest_revision_id).toBe(SECOND);
        expect(state?.source_revision_config).toEqual({ ...base.source_revision_config, repo_commit_sha: NEWER });
      });
  });

  it.each(['https://code.example/team/agent.git', 'https://Code.example/Team/Agent/'])(
    'is recognised when the host spells the repository %s',
    (repo_url) => {
      expect(buildPush({ ...pushed, repo_url }, SECOND)(deploymentAfter())).toHaveLength(1);
    },
  );

  it.each([
    ['another branch', { ref: 'refs/heads/maintenance' }],
    ['a tag of the same name', { ref: 'refs/tags/main' }],
    ['another repository', { repo_url: 'https://code.example/team/agents' }],
    ['the commit that the latest revision has', { repo_commit_sha: SHA }],
  ])('of %s changes nothing', (_, difference) => {
    on(resolved)
      .when(mine(buildPush({ ...pushed, ...difference }, SECOND)))
      .then();
  });

  it('changes nothing once build_on_push is off or the deployment is being deleted', () => {
    on({ type: 'DeploymentPatched', data: { source_config: { build_on_push: false } } })
      .when(mine(buildPush(pushed, SECOND)))
      .then();
    on({ type: 'DeploymentDeletionRequested', data: { name: 'agent', delete_tracing_project: false } })
      .when(mine(buildPush(pushed, SECOND)))
      .then();
  });
});

describe('a roll-back that skips the commit it leaves', () => {
  const bad: DeploymentEvent[] = [resolved, ...buildPush(pushed, SECOND)(deploymentAfter(resolved))];
  const first = () => revisionAfter(FIRST, ...bad);
  const skipping = (id: string) => redeploy(first(), id, 'any', { skipCommit: true });

  it('leaves pushes on: those of the commit are ignored, the next one is deployed', () => {
    const back = skipping(THIRD)(deploymentAfter(...bad));
    expect(back.map(({ type }) => type)).toEqual(['RevisionCreated', 'CommitSkipped']);
    on(...bad, ...back)
      .when(mine(buildPush(pushed, uuidOf(1004))))
      .then();
    on(...bad, ...back)
      .when(mine(buildPush({ ...pushed, repo_commit_sha: 'c'.repeat(40) }, uuidOf(1004))))
      .thenState((state, events) => {
        expect(events).toHaveLength(1);
        expect(state).toMatchObject({ latest_revision_id: uuidOf(1004), source_config: { build_on_push: true } });
        expect(skipWarning(state)).toContain('cccccccccccc unless that was reverted');
      });
  });

  it('leaves pushes paused that an earlier roll-back has paused', () => {
    const paused = redeploy(first(), THIRD, 'any')(deploymentAfter(...bad));
    const again = deploymentAfter(...bad, ...paused, ...buildAnyway());
    const back = skipping(uuidOf(1005))(again);
    expect(back.at(-1)).toEqual({ type: 'CommitSkipped', data: { repo_commit_sha: NEWER } });
    const state = deploymentAfter(...bad, ...paused, ...buildAnyway(), ...back);
    expect(state).toMatchObject({ build_on_push_paused: true, source_config: { build_on_push: false } });
    expect(skipWarning(again)).toContain('Pushes still make no revisions');
  });

  /** A revision of the newer commit, while pushes are paused. */
  function buildAnyway(): DeploymentEvent[] {
    const { secrets, secret_references, resource_spec, source } = first();
    const source_revision_config = { ...base.source_revision_config, repo_commit_sha: NEWER };
    const ids = { revision_id: uuidOf(1004), deployment_id: ID };
    const snapshot = { source, source_revision_config, resource_spec, secrets, secret_references };
    return [{ type: 'RevisionCreated', data: { ...ids, ...snapshot } }];
  }

  it('remembers the newest commits, each once', () => {
    const skips = Array.from({ length: 30 }, (_, n) => String(n % 25).padStart(40, '0'));
    const events = skips.map((repo_commit_sha) => ({ type: 'CommitSkipped', data: { repo_commit_sha } }) as const);
    const { skipped_commits } = deploymentAfter(...events);
    expect(skipped_commits).toHaveLength(20);
    expect(new Set(skipped_commits).size).toBe(20);
    expect(skipped_commits!.at(-1)).toBe(skips.at(-1));
  });

  it.each([
    ['no pushes are built', [...bad, patched(false)], InvalidDeployment, 'for deployments that build pushes'],
    ['the commit is not known', buildAgain(), CommitUnknown, 'not known yet'],
    ['the revision has the same commit', [resolved], InvalidDeployment, 'to another commit'],
  ] as const)('is refused where %s', (_, events, error, message) => {
    on(...(events as DeploymentEvent[]))
      .when(mine(skipping(THIRD)))
      .throws(error, message);
  });

  function patched(build_on_push: boolean): DeploymentEvent {
    return { type: 'DeploymentPatched', data: { source_config: { build_on_push } } };
  }

  /** A revision whose commit the code host has not told yet. */
  function buildAgain(): DeploymentEvent[] {
    const { secrets, secret_references, resource_spec, source, source_revision_config } = snapshotOf(deploymentAfter());
    const ids = { revision_id: SECOND, deployment_id: ID };
    return [
      resolved,
      {
        type: 'RevisionCreated',
        data: { ...ids, source, source_revision_config, resource_spec, secrets, secret_references },
      },
    ];
  }
});

describe('a commit that was found', () => {
  it('is shown by the deployment and its latest revision', () => {
    on()
      .when(mine(resolveCommit(FIRST, SHA)))
      .then(resolved);
    on(resolved)
      .when(mine(resolveCommit(FIRST, SHA)))
      .then();
    expect(deploymentAfter(resolved).source_revision_config.repo_commit_sha).toBe(SHA);
    expect(revisionAfter(FIRST, resolved).source_revision_config.repo_commit_sha).toBe(SHA);
  });

  it('is known as soon as the revision is deployed, and is noted once, in whatever order both are told', () => {
    const running = ['AWAITING_BUILD', 'BUILDING'] as const;
    const newer = buildPush(pushed, SECOND)(deploymentAfter());
    for (const others of [[], newer]) {
      const before = [...others];
      for (const status of running) before.push(...reportRevision(FIRST, status)(deploymentAfter(...before)));
      const first = reportRevision(FIRST, 'DEPLOYED', 'local', SHA)(deploymentAfter(...before));
      expect(first.slice(0, 2)).toMatchObject([
        resolved,
        { type: 'RevisionStatusChanged', data: { status: 'DEPLOYED' } },
      ]);
      const later = reportRevision(FIRST, 'DEPLOYED', 'local', SHA)(deploymentAfter(...before, resolved));
      expect(later).toEqual(first.slice(1));
    }
    expect(resolveCommit(FIRST, SHA)(deploymentAfter(resolved))).toEqual([]);
  });

  it('of an older revision does not touch the deployment', () => {
    const newer = buildPush(pushed, SECOND)(deploymentAfter());
    expect(deploymentAfter(...newer, resolved).source_revision_config.repo_commit_sha).toBe(NEWER);
    expect(revisionAfter(FIRST, ...newer, resolved).source_revision_config.repo_commit_sha).toBe(SHA);
  });

  it('is forgotten by a change of what is built', () => {
    const decide = patch({ source_revision_config: { repo_ref: 'next' } }, SECOND, 'any');
    const after = deploymentAfter(resolved, ...decide(deploymentAfter(resolved)));
    expect(after.source_revision_config).toEqual({ ...base.source_revision_config, repo_ref: 'next' });
  });
});

describe('a roll-back', () => {
  const newer = [resolved, ...buildPush(pushed, SECOND)(deploymentAfter(resolved))];
  const back = redeploy(revisionAfter(FIRST, ...newer), THIRD, 'any');
  const rolledBack = [...newer, ...back(deploymentAfter(...newer))];
  const again = { ...pushed, repo_commit_sha: 'c'.repeat(40) };

  it('goes to the very commit and pauses build_on_push, in the record and in the history', () => {
    const state = deploymentAfter(...rolledBack);
    expect(state.source_revision_config.repo_commit_sha).toBe(SHA);
    expect(state.source_config.build_on_push).toBe(false);
    expect(buildPush(again, uuidOf(1004))(state)).toEqual([]);
    const told = new HistoryFold();
    const last = streamOf(1, [...born, ...rolledBack])
      .map((event) => told.take(event, true))
      .at(-1);
    expect(last).toMatchObject({
      type: 'BuildOnPushPaused',
      changes: [{ member: 'source_config.build_on_push', before: true, after: false }],
    });
  });

  it('is no roll-back when the latest revision is repeated', () => {
    const repeat = redeploy(revisionAfter(SECOND, ...newer), THIRD, 'any');
    expect(repeat(deploymentAfter(...newer)).map(({ type }) => type)).toEqual(['RevisionCreated']);
  });

  it('ends its pause with the next PATCH of source_revision_config, even one that names the same branch', () => {
    const decided = patch(
      { source_revision_config: { repo_ref: 'main' } },
      uuidOf(1004),
      'any',
    )(deploymentAfter(...rolledBack));
    const state = deploymentAfter(...rolledBack, ...decided);
    expect(decided.map(({ type }) => type)).toEqual(['DeploymentPatched', 'RevisionCreated']);
    expect(state.source_config.build_on_push).toBe(true);
    expect(state.source_revision_config.repo_commit_sha).toBeUndefined();
    expect(buildPush(again, uuidOf(1005))(state)).toHaveLength(1);
  });

  it('stays paused through other changes, and is over for good when build_on_push is sent', () => {
    const paused = deploymentAfter(...rolledBack);
    const other = patch({ source_config: { custom_url: 'https://agent.example' } }, uuidOf(1004), 'any')(paused);
    expect(deploymentAfter(...rolledBack, ...other).source_config.build_on_push).toBe(false);
    const on = patch({ source_config: { build_on_push: true } }, uuidOf(1004), 'any')(paused);
    expect(on.map(({ type }) => type)).toEqual(['DeploymentPatched']);
    expect(deploymentAfter(...rolledBack, ...on)).toMatchObject({ source_config: { build_on_push: true } });
    const off = { source_revision_config: { repo_ref: 'next' }, source_config: { build_on_push: false } };
    const decided = patch(off, uuidOf(1004), 'any')(paused);
    const state = deploymentAfter(...rolledBack, ...decided);
    expect([state.source_config.build_on_push, state.build_on_push_paused]).toEqual([false, undefined]);
  });
});
