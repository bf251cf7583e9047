import { owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import fc from 'fast-check';
import { create, patch, type NewDeployment } from './change';
import {
  completeDeletion,
  type Deployment,
  deploymentAggregate,
  deploymentModel,
  issueUploadPath,
  nameTracingProject,
  reportHost,
  requestDeletion,
  tag,
  type DeploymentState,
} from './deployment';
import { deploymentOf, deploymentRecord, unshownPart } from '../deployment/record';
import type { DeploymentEvent, Secret, Snapshot } from './deployment-events';
import { DeploymentBeingDeleted, DeploymentNotFound, InvalidDeployment } from './deployment.errors';
import { RevisionEnded, RevisionWaits } from './revision.errors';
import { interrupt, redeploy, reportRevision, revisionsModel } from './revision';
import { factsOf, isRunning, type RevisionStatus } from '@fairlead/contracts';
import { buildPush } from './push';
import { imageVersion } from './image-reference';
import type { Hosting } from './source-rules';

const tenant = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
const id = '01980000-0000-7000-8000-000000000001';
const revisionId = (n: number) => `01980000-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`;
const ids = { deploymentId: id, revisionId: revisionId(1) };

const secret = (name: string, value: string): Secret => ({
  name,
  sealed: { subject: id, sealed: `sealed ${value} ${Math.random()}` },
  digest: `digest of ${value}`,
});
const token = secret('TOKEN', 'one');

const codehost: NewDeployment = {
  name: 'support-agent',
  source: 'codehost',
  source_config: {
    integration_id: '5e1f0000-0000-4000-8000-000000000001',
    repo_url: 'https://code.example/a/b',
    deployment_type: 'prod',
  },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
  secrets: [token],
};
const { integration_id, repo_url } = codehost.source_config;
const repository = { integration_id, repo_url };
const container: NewDeployment = {
  name: 'support-agent',
  source: 'external_container',
  source_config: {
    listener_id: '5e1f0000-0000-4000-8000-000000000002',
    listener_config: { cluster_namespace: 'agents' },
  },
  source_revision_config: { image_uri: 'registry.example/agent:1.4.2' },
  secrets: [],
  secret_references: [{ name: 'DB', secret_name: 'db', secret_key: 'password' }],
};
const pushed: NewDeployment = { ...codehost, source: 'internal_source', source_config: {}, source_revision_config: {} };

const created = (wanted: NewDeployment): DeploymentEvent[] => create(wanted, tenant, ids, 'any')(null);
const decide = (command: (state: Deployment) => DeploymentEvent[]) => owned(deploymentAggregate, tenant, id, command);
const patching = (wanted: Parameters<typeof patch>[0], n = 2, hosting: Hosting = 'any') =>
  decide(patch(wanted, revisionId(n), hosting));
const reporting = (n: number, status: RevisionStatus) => decide(reportRevision(revisionId(n), status));
const evolved = (state: DeploymentState, event: DeploymentEvent): DeploymentState =>
  deploymentModel.evolve(state, { ...event, time: '2026-01-01T00:00:00.000Z' } as never);
const types = (events: readonly DeploymentEvent[]) => events.map(({ type }) => type);
const statuses = (events: readonly DeploymentEvent[]) =>
  events.flatMap(({ type, data }) => (type === 'RevisionStatusChanged' ? [[data.revision_id, data.status]] : []));
const snapshotOf = (wanted: NewDeployment): Snapshot => ({
  source: wanted.source,
  source_revision_config: wanted.source_revision_config,
  resource_spec: wanted.source_config.resource_spec ?? null,
  secrets: wanted.secrets as Secret[],
  secret_references: wanted.secret_references ?? null,
});
const revision = (n: number, snapshot: Snapshot): DeploymentEvent => ({
  type: 'RevisionCreated',
  data: { revision_id: revisionId(n), deployment_id: id, ...snapshot },
});
const moved = (n: number, previous_status: RevisionStatus, status: RevisionStatus): DeploymentEvent => ({
  type: 'RevisionStatusChanged',
  data: { revision_id: revisionId(n), previous_status, status },
});
const existing = (state: DeploymentState) => state!;

describe('rule 1: what makes a revision', () => {
  it('a change of source_config makes none', () => {
    given(deploymentModel, ...created(codehost))
      .when(patching({ source_config: { custom_url: 'https://agent.example', resource_spec: { cpu: 2 } } }))
      .then({
        type: 'DeploymentPatched',
        data: { source_config: { custom_url: 'https://agent.example', resource_spec: { cpu: 2 } } },
      });
  });

  it('a change of source_revision_config makes one from the merged configuration', () => {
    const source_revision_config = { repo_ref: 'release', graph_config_path: 'graph.json' };
    given(deploymentModel, ...created(codehost))
      .when(patching({ source_revision_config: { repo_ref: 'release' } }))
      .then(
        { type: 'DeploymentPatched', data: { source_revision_config } },
        revision(2, { ...snapshotOf(codehost), source_revision_config }),
      );
  });

  it('a change of secrets makes one', () => {
    const secrets = [secret('TOKEN', 'two')];
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets }))
      .then({ type: 'DeploymentPatched', data: { secrets } }, revision(2, { ...snapshotOf(codehost), secrets }));
  });

  it('a change of secret_references makes one', () => {
    const secret_references = [{ name: 'DB', secret_name: 'db', secret_key: 'url' }];
    given(deploymentModel, ...created(container))
      .when(patching({ secret_references }))
      .then(
        { type: 'DeploymentPatched', data: { secret_references } },
        revision(2, { ...snapshotOf(container), secret_references }),
      );
  });

  it('values equal to the current ones change nothing and write no event', () => {
    const again = { source_config: codehost.source_config, source_revision_config: codehost.source_revision_config };
    const secrets = [secret('TOKEN', 'one')];
    given(deploymentModel, ...created(codehost))
      .when(patching({ ...again, secrets }))
      .then();
    given(deploymentModel, ...created(codehost))
      .when(patching({}))
      .then();
    given(deploymentModel, ...created(container))
      .when(patching({ secret_references: container.secret_references }))
      .then();
    const [a, b] = [secret('A', 'a'), secret('B', 'b')];
    given(deploymentModel, ...created({ ...codehost, secrets: [a, b] }))
      .when(patching({ secrets: [b, a] }))
      .then();
  });

  it('a resource_spec is merged member by member', () => {
    given(
      deploymentModel,
      ...created({ ...codehost, source_config: { ...repository, resource_spec: { cpu: 1, max_scale: 3 } } }),
    )
      .when(patching({ source_config: { resource_spec: { cpu: 2 } } }))
      .thenState((after) => expect(after!.source_config.resource_spec).toEqual({ cpu: 2, max_scale: 3 }));
  });
});

describe('rule 2: the state after a PATCH', () => {
  it('carries the new latest_revision_id', () => {
    given(deploymentModel, ...created(codehost))
      .when(patching({ source_revision_config: { repo_ref: 'release' } }))
      .thenState((after) => expect(after!.latest_revision_id).toBe(revisionId(2)));
  });
});

describe('rule 3: active_revision_id', () => {
  const past = [...created(codehost), moved(1, 'QUEUED', 'DEPLOYING')];
  const two = [
    ...past,
    moved(1, 'DEPLOYING', 'DEPLOYED'),
    { type: 'RevisionActivated', data: { revision_id: revisionId(1), previous_revision_id: null } } as const,
    revision(2, snapshotOf(codehost)),
    moved(2, 'QUEUED', 'DEPLOYING'),
  ];

  it('moves only when the rollout reports DEPLOYED', () => {
    for (const status of ['BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING'] as const) {
      given(deploymentModel, ...created(codehost))
        .when(reporting(1, status))
        .then(moved(1, 'QUEUED', status));
    }
    given(deploymentModel, ...past)
      .when(reporting(1, 'DEPLOYED'))
      .then(
        moved(1, 'DEPLOYING', 'DEPLOYED'),
        { type: 'RevisionActivated', data: { revision_id: revisionId(1), previous_revision_id: null } },
        { type: 'DeploymentProvisioned', data: {} },
      );
  });

  it('says what deployed it, of each revision', () => {
    given(deploymentModel, ...two)
      .when(decide(reportRevision(revisionId(2), 'DEPLOYED', 'record')))
      .thenState((after, events) => {
        expect(after!.executor).toBe('record');
        expect(events).toContainEqual(
          expect.objectContaining({ data: expect.objectContaining({ executor: 'record' }) }),
        );
      });
  });

  it('is left alone by a failed revision', () => {
    given(deploymentModel, ...past)
      .when(reporting(1, 'DEPLOY_FAILED'))
      .thenState((after, events) => {
        expect(types(events)).toEqual(['RevisionStatusChanged']);
        expect(after!.active_revision_id).toBeNull();
      });
    given(deploymentModel, ...two)
      .when(reporting(2, 'DEPLOY_FAILED'))
      .thenState((after) => expect(after!.active_revision_id).toBe(revisionId(1)));
  });

  it('moves on to the next one while the superseded revision stays DEPLOYED', () => {
    given(deploymentModel, ...two)
      .when(reporting(2, 'DEPLOYED'))
      .thenState((after, events) => {
        expect(statuses(events)).toEqual([[revisionId(2), 'DEPLOYED']]);
        expect(after!.active_revision_id).toBe(revisionId(2));
        expect(events).toContainEqual({
          type: 'RevisionActivated',
          data: { revision_id: revisionId(2), previous_revision_id: revisionId(1) },
        });
      });
  });
});

describe('rule 4: revisions queue', () => {
  const running = [...created(codehost), moved(1, 'QUEUED', 'BUILDING')];
  const queue = [...running, ...[2, 3, 4].map((n) => revision(n, snapshotOf(codehost)))];

  it('a PATCH while one is in progress is accepted and waits', () => {
    given(deploymentModel, ...running)
      .when(patching({ source_revision_config: { repo_ref: 'release' } }))
      .thenState((after) => {
        expect(after!.queued.map((waiting) => waiting.id)).toEqual([revisionId(2)]);
        expect(after!.running).toEqual({ id: revisionId(1), status: 'BUILDING' });
      });
  });

  it('when the running one ends, older queued ones are skipped and the newest runs', () => {
    given(deploymentModel, ...queue)
      .when(reporting(1, 'BUILD_FAILED'))
      .thenState((after, events) => {
        expect(statuses(events)).toEqual([
          [revisionId(1), 'BUILD_FAILED'],
          [revisionId(2), 'SKIPPED'],
          [revisionId(3), 'SKIPPED'],
          [revisionId(4), 'AWAITING_BUILD'],
        ]);
        expect(after!.queued).toEqual([]);
        expect(after!.running).toEqual({ id: revisionId(4), status: 'AWAITING_BUILD' });
      });
  });

  it('a revision of a container is not built', () => {
    const containers = [...created(container), moved(1, 'QUEUED', 'DEPLOYING'), revision(2, snapshotOf(container))];
    given(deploymentModel, ...containers)
      .when(reporting(1, 'DEPLOYED'))
      .thenState((after) => expect(after!.running).toEqual({ id: revisionId(2), status: 'AWAITING_DEPLOY' }));
  });

  it('interrupting the running one lets the newest run, interrupting a waiting one changes no other', () => {
    given(deploymentModel, ...queue)
      .when(decide(interrupt(revisionId(1))))
      .thenState((after) => expect(after!.running?.id).toBe(revisionId(4)));
    given(deploymentModel, ...queue)
      .when(decide(interrupt(revisionId(3))))
      .then(moved(3, 'QUEUED', 'INTERRUPTED'));
  });

  const deploying = [...running, moved(1, 'BUILDING', 'DEPLOYING')];
  const replaced = (older: number, newer: number): DeploymentEvent => ({
    type: 'RevisionStatusChanged',
    data: {
      ...{ revision_id: revisionId(older), previous_status: 'DEPLOYING', status: 'INTERRUPTED' },
      replaced_by: revisionId(newer),
    },
  });

  it.each([
    ['a PATCH', patching({ source_revision_config: { repo_ref: 'release' } })],
    [
      'a roll-back',
      (state: DeploymentState) => {
        const [event] = created(codehost)
          .slice(-1)
          .map((one) => ({ ...one, time: '', version: 2 }));
        const first = revisionsModel.evolve(revisionsModel.initial, event as never).get(revisionId(1))!;
        return decide(redeploy(first, revisionId(2), 'any'))(state);
      },
    ],
    [
      'a push',
      (state: DeploymentState) => {
        const followed = { ...state!, source_config: { ...state!.source_config, build_on_push: true } };
        const push = { repo_url: repo_url!, ref: 'refs/heads/main', repo_commit_sha: 'a'.repeat(40) };
        return buildPush(push, revisionId(2))(followed);
      },
    ],
  ])('the revision of %s takes the place of one that is not ready yet, and the active one stays', (_, newer) => {
    given(deploymentModel, ...deploying)
      .when(newer)
      .thenState((after, events) => {
        expect(events.slice(-2)).toEqual([replaced(1, 2), moved(2, 'QUEUED', 'AWAITING_BUILD')]);
        expect(after!.running).toEqual({ id: revisionId(2), status: 'AWAITING_BUILD' });
        expect(after!.active_revision_id).toBeNull();
      });
  });

  it('one that builds finishes its build before a newer one takes its place', () => {
    given(deploymentModel, ...queue)
      .when(reporting(1, 'DEPLOYING'))
      .then(
        moved(1, 'BUILDING', 'DEPLOYING'),
        replaced(1, 4),
        moved(2, 'QUEUED', 'SKIPPED'),
        moved(3, 'QUEUED', 'SKIPPED'),
        moved(4, 'QUEUED', 'AWAITING_BUILD'),
      );
  });

  it('after three replacements in a row the next revision waits, until one has ended by itself', () => {
    const begun = (n: number) => [revision(n, snapshotOf(codehost)), moved(n, 'AWAITING_BUILD', 'DEPLOYING')];
    const thrice = [...deploying, ...[1, 2, 3].flatMap((n) => [replaced(n, n + 1), ...begun(n + 1)])];
    const fifth = patching({ source_revision_config: { repo_ref: 'fifth' } }, 5);
    given(deploymentModel, ...thrice)
      .when(fifth)
      .thenState((after) => {
        expect(after!.running).toEqual({ id: revisionId(4), status: 'DEPLOYING' });
        expect(after!.queued.map((waiting) => waiting.id)).toEqual([revisionId(5)]);
      });
    given(deploymentModel, ...thrice, moved(4, 'DEPLOYING', 'DEPLOY_FAILED'), ...begun(5))
      .when(patching({ source_revision_config: { repo_ref: 'sixth' } }, 6))
      .thenState((after) => expect(after!.running?.id).toBe(revisionId(6)));
  });

  it('whatever comes in which order, one runs, newer ones replace older ones, and never more than three in a row', () => {
    const steps = fc.array(fc.constantFrom('patch', 'BUILDING', 'DEPLOYING', 'DEPLOYED', 'DEPLOY_FAILED'), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (taken) => {
        let state = created(codehost).reduce<DeploymentState>(evolved, null)!;
        let [patches, inARow] = [1, 0];
        for (const step of taken) {
          const { running, queued } = state;
          if (step !== 'patch' && !running && queued.length === 0) continue;
          const reported = running?.id ?? queued.at(-1)?.id ?? '';
          const events =
            step === 'patch'
              ? patching({ source_revision_config: { repo_ref: `ref-${++patches}` } }, patches)(state)
              : decide(reportRevision(reported, step))(state);
          for (const event of events) {
            state = evolved(state, event)!;
            if (event.type !== 'RevisionStatusChanged') continue;
            const { replaced_by, revision_id, status } = event.data;
            if (replaced_by !== undefined) {
              expect([replaced_by > revision_id, status, event.data.previous_status]).toEqual([
                ...[true, 'INTERRUPTED', 'DEPLOYING'],
              ]);
              expect(++inARow).toBeLessThanOrEqual(3);
            } else if (!isRunning(status) && status !== 'SKIPPED') inARow = 0;
          }
          if (state.running?.status === 'DEPLOYING' && state.queued.length > 0) expect(inARow).toBe(3);
        }
      }),
    );
  });

  it('only one runs at a time, and starting one skips the older', () => {
    given(deploymentModel, ...queue)
      .when(reporting(2, 'BUILDING'))
      .throws(RevisionWaits);
    given(deploymentModel, ...created(codehost), revision(2, snapshotOf(codehost)))
      .when(reporting(2, 'AWAITING_BUILD'))
      .then(moved(2, 'QUEUED', 'AWAITING_BUILD'), moved(1, 'QUEUED', 'SKIPPED'));
  });

  it('nothing is reported or interrupted after the end, and a repeated report changes nothing', () => {
    const ended = [...running, moved(1, 'BUILDING', 'BUILD_FAILED')];
    given(deploymentModel, ...ended)
      .when(reporting(1, 'DEPLOYED'))
      .throws(RevisionEnded);
    given(deploymentModel, ...ended)
      .when(decide(interrupt(revisionId(1))))
      .throws(RevisionEnded);
    given(deploymentModel, ...running)
      .when(reporting(1, 'BUILDING'))
      .then();
  });
});

describe('rule 5: creation', () => {
  it('makes revision 1 of a usable artefact', () => {
    expect(types(created(codehost))).toEqual(['DeploymentCreated', 'RevisionCreated']);
    expect(types(created(container))).toEqual(['DeploymentCreated', 'RevisionCreated']);
    const template = { ...pushed, source: 'internal_template', source_revision_config: { repo_ref: 'main' } } as const;
    expect(types(created(template))).toEqual(['DeploymentCreated', 'RevisionCreated']);
    given(deploymentModel)
      .when(create(codehost, tenant, ids, 'any'))
      .thenState((after) => expect(after!.latest_revision_id).toBe(revisionId(1)));
  });

  it.each(['internal_source', 'internal_container'] as const)(
    '%s without an artefact waits for the first PATCH',
    (source) => {
      given(deploymentModel)
        .when(create({ ...pushed, source }, tenant, ids, 'any'))
        .thenState((after, events) => {
          expect(types(events)).toEqual(['DeploymentCreated']);
          expect(after!.latest_revision_id).toBeNull();
        });
    },
  );

  it.each([
    ['internal_source', { repo_ref: 'main' }],
    ['internal_source', { graph_config_path: 'graph.json' }],
    ['internal_container', {}],
    ['codehost', { graph_config_path: 'graph.json' }],
    ['external_container', {}],
  ] as const)('%s with %j has nothing that could run', (source, source_revision_config) => {
    const source_config = source === 'codehost' ? repository : {};
    expect(types(created({ ...pushed, source, source_config, source_revision_config }))).toEqual(['DeploymentCreated']);
  });
});

describe('rule 6: what cannot change after creation', () => {
  const other = '5e1f0000-0000-4000-8000-0000000000ff';
  it.each([
    ['name', codehost, { name: 'other' }],
    ['source', codehost, { source: 'internal_source' as const }],
    ['integration_id', codehost, { source_config: { integration_id: other } }],
    ['repo_url', codehost, { source_config: { repo_url: 'https://code.example/x/y' } }],
    ['deployment_type', codehost, { source_config: { deployment_type: 'dev' as const } }],
    ['listener_id', container, { source_config: { listener_id: other } }],
    ['cluster_namespace', container, { source_config: { listener_config: { cluster_namespace: 'x' } } }],
  ])('%s', (member, wanted, change) => {
    given(deploymentModel, ...created(wanted))
      .when(patching(change))
      .throws(InvalidDeployment, `${member} cannot be changed after creation.`);
  });

  it('what was never set cannot be set later', () => {
    given(deploymentModel, ...created({ ...container, source_config: {} }))
      .when(patching({ source_config: { listener_id: other } }))
      .throws(InvalidDeployment, 'listener_id cannot be changed after creation.');
  });

  it('the same values pass', () => {
    const { name, source, source_config } = container;
    given(deploymentModel, ...created(container))
      .when(patching({ name, source, source_config }))
      .then();
  });

  it('null passes and leaves the value as it is', () => {
    given(deploymentModel, ...created(container))
      .when(patching({ source_config: { listener_config: {} } }))
      .then();
  });
});

describe('rule 7: members belong to sources', () => {
  it.each([
    ['integration_id', { source_config: { integration_id: id } }, ['codehost']],
    ['repo_url', { source_config: { repo_url: 'https://code.example/a/b' } }, ['codehost']],
    ['build_on_push', { source_config: { build_on_push: true } }, ['codehost']],
    ['listener_id', { source_config: { listener_id: id } }, ['external_container']],
    ['listener_config', { source_config: { listener_config: {} } }, ['external_container']],
    ['secret_references', { secret_references: [] }, ['external_container']],
    ['image_uri', { source_revision_config: { image_uri: 'a:1' } }, ['external_container', 'internal_container']],
    ['source_tarball_path', { source_revision_config: { source_tarball_path: 'x' } }, ['internal_source']],
    ['repo_ref', { source_revision_config: { repo_ref: 'a' } }, ['codehost', 'internal_source', 'internal_template']],
    [
      'graph_config_path',
      { source_revision_config: { graph_config_path: 'a' } },
      ['codehost', 'internal_source', 'internal_template'],
    ],
    ['resource_spec', { source_config: { resource_spec: {} } }, 'every'],
  ])('%s', (member, members, allowed) => {
    for (const source of [
      'codehost',
      'external_container',
      'internal_container',
      'internal_source',
      'internal_template',
    ] as const) {
      const source_config = {
        ...(source === 'codehost' && repository),
        ...('source_config' in members && members.source_config),
      };
      const wanted = { ...pushed, ...members, source, source_config };
      const refusal = `${member} is not allowed when source is '${source}'.`;
      const fits = allowed === 'every' || allowed.includes(source);
      if (fits && member === 'source_tarball_path') {
        expect(() => created(wanted)).toThrow('source_tarball_path must be a path that upload-url gave out');
        given(deploymentModel, ...created(pushed))
          .when(patching(members))
          .throws(InvalidDeployment);
      } else if (fits) {
        expect(() => created(wanted)).not.toThrow();
      } else {
        expect(() => created(wanted)).toThrow(refusal);
        given(
          deploymentModel,
          ...created({ ...pushed, source, source_config: source === 'codehost' ? repository : {} }),
        )
          .when(patching(members))
          .throws(InvalidDeployment, refusal);
      }
    }
  });

  it.each([
    ['image_uri', container],
    ['repo_ref', codehost],
  ])('%s says what to run: it is not empty', (member, wanted) => {
    const source_revision_config = { [member]: ' ' };
    expect(() => created({ ...wanted, source_revision_config })).toThrow(`${member} must not be empty.`);
    given(deploymentModel, ...created(wanted))
      .when(patching({ source_revision_config }))
      .throws(InvalidDeployment, `${member} must not be empty.`);
  });

  it.each(['integration_id', 'repo_url'] as const)('a deployment from a code host needs its %s', (member) => {
    for (const value of [undefined, ' ']) {
      const wanted = { ...codehost, source_config: { ...repository, [member]: value } };
      expect(() => created(wanted)).toThrow(`${member} is required when source is 'codehost'.`);
    }
  });

  it.each([
    'agent',
    'agent:1.0',
    'team/agent_a--b.c:V1_2-x',
    'localhost/agent',
    'localhost:5000/agent:v2',
    'Registry.Example:5000/a/b/c@sha256:' + 'ab'.repeat(32),
    '[2001:db8::1]:5000/agent',
    `agent:1.0@sha256:${'0'.repeat(64)}`,
    `${'a'.repeat(237)}:${'t'.repeat(128)}`,
  ])('the image_uri %s is a reference', (image_uri) => {
    expect(() => created({ ...container, source_revision_config: { image_uri } })).not.toThrow();
  });

  it.each([
    '-rf',
    'no spaces allowed',
    'agent ',
    'agent:',
    'agent:-x',
    ':1.0',
    'Agent',
    'a//b',
    '/agent',
    'agent/',
    'a..b',
    'registry.example:port/agent',
    '-registry.example/agent',
    'registry.example/',
    'https://registry.example/agent:1',
    'agent@sha256:abc',
    `agent@sha256:${'0'.repeat(64)}@sha256:${'0'.repeat(64)}`,
    'agent:1\n',
    'agent:1;rm',
    'ägent:1',
    'a'.repeat(256),
    `agent:${'t'.repeat(129)}`,
    `${'a-'.repeat(100_000)}!`,
    // Docker refuses these, too.
    '0123456789abcdef'.repeat(4),
    `agent@sha256:${'0'.repeat(63)}`,
    `agent@sha256:${'A'.repeat(64)}`,
    `agent@sha512:${'0'.repeat(64)}`,
    `agent@md5:${'0'.repeat(32)}`,
    'registry.example:65536/agent',
    'a'.repeat(238),
  ])('the image_uri %j is none', (image_uri) => {
    const source_revision_config = { image_uri };
    expect(() => created({ ...container, source_revision_config })).toThrow('image_uri must be a reference');
    given(deploymentModel, ...created(container))
      .when(patching({ source_revision_config }))
      .throws(InvalidDeployment, 'image_uri must be a reference');
  });

  it.each([
    'a'.repeat(237),
    `registry.example/${'a'.repeat(238)}`,
    'registry.example:65535/agent',
    `agent@sha384:${'0'.repeat(96)}`,
    `${'0123456789abcdef'.repeat(4)}:1`,
    'Host/a__b/c--d.e',
  ])('the image_uri %j is one', (image_uri) => {
    expect(created({ ...container, source_revision_config: { image_uri } })).toHaveLength(2);
  });

  it.each([
    [
      'repo_ref',
      ['a b', 'a..b', '-rf', 'a\n', 'a~1', 'a:b', '/a', 'a/', 'a//b', '.a', 'a.lock', 'a@{1}', '@', 'a'.repeat(1001)],
    ],
    [
      'graph_config_path',
      ['', ' ', '..', '../g.json', 'a/../../g.json', '/etc/g.json', 'a/', 'a\nb', 'a'.repeat(1001)],
    ],
  ])('the %s is none of %j', (member, texts) => {
    for (const text of texts) {
      const source_revision_config = { ...codehost.source_revision_config, [member]: text };
      expect(() => created({ ...codehost, source_revision_config })).toThrow(new RegExp(`^${member} must`));
      given(deploymentModel, ...created(codehost))
        .when(patching({ source_revision_config: { [member]: text } }))
        .throws(InvalidDeployment, `${member} must`);
    }
  });

  it.each(['main', 'feature/x-1.y', 'refs/tags/v1', '@a', 'ä', 'f'.repeat(40)])(
    'the repo_ref %j is one',
    (repo_ref) => {
      const source_revision_config = { repo_ref, graph_config_path: './a b/langgraph..json' };
      expect(created({ ...codehost, source_revision_config })).toHaveLength(2);
    },
  );

  it('an image that was recorded before it was checked makes no further revision', () => {
    const source_revision_config = { image_uri: '-rf' };
    const before = created(container).map(
      (event) => ({ ...event, data: { ...event.data, source_revision_config } }) as DeploymentEvent,
    );
    given(deploymentModel, ...before)
      .when(patching({ secrets: [token] }))
      .throws(InvalidDeployment, 'image_uri must');
    const earlier = { ...snapshotOf(container), source_revision_config };
    const times = { created_at: '', updated_at: '', status: 'DEPLOYED' } as const;
    given(deploymentModel, ...before)
      .when(decide(redeploy({ id: revisionId(1), ...times, ...earlier }, revisionId(2), 'any')))
      .throws(InvalidDeployment, 'image_uri must');
  });

  it.each(['init_containers', 'sidecars'])('the image of a container in %s is a reference', (member) => {
    const resource_spec = { [member]: [{ name: 'helper', image: '-rf' }] };
    const message = `image of 'helper' in ${member} must be a reference to an image`;
    expect(() => created({ ...codehost, source_config: { ...repository, resource_spec } })).toThrow(message);
    given(deploymentModel, ...created(codehost))
      .when(patching({ source_config: { resource_spec } }))
      .throws(InvalidDeployment, message);
  });

  it.each(['', 'Agents', '-rf', 'a.b', 'a b', 'a'.repeat(64)])('the cluster_namespace %j is none', (name) => {
    const source_config = { listener_config: { cluster_namespace: name } };
    expect(() => created({ ...container, source_config })).toThrow(/^cluster_namespace must be the name/);
  });

  it.each([
    ['internal_source', 'source_tarball_path'],
    ['internal_container', 'image_uri'],
  ] as const)('a revision of %s without %s has nothing to run', (revision_source, member) => {
    for (const wanted of [codehost, { ...pushed, source: revision_source }]) {
      given(deploymentModel, ...created(wanted))
        .when(patching({ revision_source }))
        .throws(
          InvalidDeployment,
          `${member} is required: a revision of '${revision_source}' has nothing else to run.`,
        );
    }
  });

  it('a revision of a repository needs one that the deployment has', () => {
    given(deploymentModel, ...created(pushed))
      .when(patching({ revision_source: 'codehost', source_revision_config: { repo_ref: 'main' } }))
      .throws(InvalidDeployment, "integration_id is required when source is 'codehost'.");
  });

  it('secrets alone make no revision while there is nothing to run', () => {
    const secrets = [secret('TOKEN', 'two')];
    given(deploymentModel, ...created(pushed))
      .when(patching({ secrets }))
      .then({ type: 'DeploymentPatched', data: { secrets } });
  });

  it('a tarball path that upload-url gave out passes', () => {
    const path = 'uploads/1.tar.gz';
    given(deploymentModel, ...created(pushed))
      .when(decide(issueUploadPath(path)))
      .then({
        type: 'UploadPathIssued',
        data: { object_path: path },
      });
    given(deploymentModel, ...created(pushed), { type: 'UploadPathIssued', data: { object_path: path } })
      .when(patching({ source_revision_config: { source_tarball_path: path } }))
      .thenState((after) => expect(after!.source_revision_config).toEqual({ source_tarball_path: path }));
  });

  it('build_on_push with a tag is refused, at creation and in a PATCH', () => {
    const tagged = {
      ...codehost,
      source_config: { ...repository, build_on_push: true },
      source_revision_config: { repo_ref: 'refs/tags/v1' },
    };
    expect(() => created(tagged)).toThrow('build_on_push cannot be true when repo_ref is a tag.');
    const branch = { ...tagged, source_revision_config: { repo_ref: 'refs/heads/tags/main' } };
    expect(() => created(branch)).not.toThrow();
    given(deploymentModel, ...created({ ...tagged, source_config: repository }))
      .when(patching({ source_config: { build_on_push: true } }))
      .throws(InvalidDeployment, 'build_on_push');
    given(deploymentModel, ...created({ ...codehost, source_config: { ...repository, build_on_push: true } }))
      .when(patching({ source_revision_config: { repo_ref: 'refs/tags/v1' } }))
      .throws(InvalidDeployment, 'build_on_push');
  });

  it('repo_commit_sha is ignored on input', () => {
    const sent = { repo_ref: 'main', graph_config_path: 'graph.json', repo_commit_sha: 'abc' };
    given(deploymentModel)
      .when(create({ ...codehost, source_revision_config: sent }, tenant, ids, 'any'))
      .thenState((after) => expect(after!.source_revision_config).toEqual(codehost.source_revision_config));
    given(deploymentModel, ...created(codehost))
      .when(patching({ source_revision_config: sent }))
      .then();
  });

  it('revision_source overrides the source for one revision, the next starts from the deployment’s own again', () => {
    const pushedOnce = patching({
      revision_source: 'internal_container',
      source_revision_config: { image_uri: 'a:1' },
    });
    given(deploymentModel, ...created(codehost))
      .when(pushedOnce)
      .thenState((after, events) => {
        expect(after!.source).toBe('codehost');
        expect(after!.source_revision_config).toEqual({ image_uri: 'a:1' });
        const next = patching({ source_revision_config: { repo_ref: 'release' } }, 3)(after);
        given(deploymentModel, ...created(codehost), ...events)
          .when(() => next)
          .thenState((last) => {
            expect(last!.source_revision_config).toEqual({ repo_ref: 'release', graph_config_path: 'graph.json' });
            expect(last!.revision_source).toBe('codehost');
          });
      });
  });
});

describe('rule 8: source availability', () => {
  const hosted = {
    cloud: ['codehost', 'internal_container', 'internal_source', 'internal_template'],
    self_hosted: ['external_container'],
  };

  it.each(['cloud', 'self_hosted'] as const)('HOSTING=%s', (hosting) => {
    for (const source of [...hosted.cloud, ...hosted.self_hosted] as Snapshot['source'][]) {
      const attempt = () =>
        create(
          { ...pushed, source, source_config: source === 'codehost' ? repository : {} },
          tenant,
          ids,
          hosting,
        )(null);
      if (hosted[hosting].includes(source)) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(InvalidDeployment);
    }
  });

  it('holds for revision_source too', () => {
    given(deploymentModel, ...created(container))
      .when(patching({ revision_source: 'internal_container' }, 2, 'self_hosted'))
      .throws(InvalidDeployment, "source 'internal_container' is available only for cloud-hosted deployments.");
  });
});

describe('rule 9: statuses of a deployment', () => {
  const activated: DeploymentEvent = {
    type: 'RevisionActivated',
    data: { revision_id: revisionId(1), previous_revision_id: null },
  };
  const provisioned: DeploymentEvent = { type: 'DeploymentProvisioned', data: {} };

  it('AWAITING_DATABASE until a revision has been deployed, then READY', () => {
    const deploying = [...created(codehost), moved(1, 'QUEUED', 'DEPLOYING')];
    expect(fold(deploying)!.status).toBe('AWAITING_DATABASE');
    given(deploymentModel, ...deploying)
      .when(reportHost('READY'))
      .then();
    given(deploymentModel, ...deploying)
      .when(reporting(1, 'DEPLOY_FAILED'))
      .thenState((after) => expect(after!.status).toBe('AWAITING_DATABASE'));
    given(deploymentModel, ...deploying)
      .when(reporting(1, 'DEPLOYED'))
      .thenState((after) => expect(after!.status).toBe('READY'));
    const served = [...deploying, moved(1, 'DEPLOYING', 'DEPLOYED'), activated, provisioned];
    given(deploymentModel, ...served, revision(2, snapshotOf(codehost)), moved(2, 'QUEUED', 'DEPLOYING'))
      .when(reporting(2, 'DEPLOY_FAILED'))
      .thenState((after) => expect(after!.status).toBe('READY'));
  });

  const deleting = [...created(codehost), ...requestDeletion(true)(existing(fold(created(codehost))))];

  it('AWAITING_DELETE from DELETE until removed, and no change meanwhile', () => {
    expect(fold(deleting)!.status).toBe('AWAITING_DELETE');
    given(deploymentModel, ...deleting)
      .when(decide(requestDeletion(false)))
      .then();
    given(deploymentModel, ...deleting)
      .when(patching({ secrets: [] }))
      .throws(DeploymentBeingDeleted);
    given(deploymentModel, ...deleting)
      .when(decide(tag([])))
      .throws(DeploymentBeingDeleted);
    given(deploymentModel, ...created(codehost))
      .when(completeDeletion)
      .then();
  });

  it('UNKNOWN while the place where it runs cannot be reached, what it was as soon as it can', () => {
    const unknown: DeploymentEvent = {
      type: 'DeploymentStatusReported',
      data: { status: 'UNKNOWN', reason: 'no route' },
    };
    const again: DeploymentEvent = { type: 'DeploymentStatusReported', data: { status: 'READY' } };
    const served = [...created(codehost), activated, provisioned];
    for (const before of [[], [activated, provisioned]]) {
      given(deploymentModel, ...created(codehost), ...before)
        .when(reportHost('UNKNOWN', 'no route'))
        .then(unknown);
    }
    expect(fold([...served, unknown])!.status).toBe('UNKNOWN');
    given(deploymentModel, ...served, unknown)
      .when(reportHost('UNKNOWN', 'no route'))
      .then();
    given(deploymentModel, ...served, unknown)
      .when(reportHost('UNKNOWN', 'it crashes'))
      .then({ type: 'DeploymentStatusReported', data: { status: 'UNKNOWN', reason: 'it crashes' } });
    given(deploymentModel, ...served, unknown)
      .when(reportHost('READY'))
      .then(again);
    expect(fold([...served, unknown, again])!.status).toBe('READY');
    given(deploymentModel, ...created(codehost), unknown)
      .when(reportHost('READY'))
      .then({ type: 'DeploymentStatusReported', data: { status: 'AWAITING_DATABASE' } });
    given(deploymentModel, ...served)
      .when(reportHost('READY'))
      .then();
    given(deploymentModel, ...deleting)
      .when(reportHost('UNKNOWN'))
      .then();
    expect(fold([...deleting, unknown])!.status).toBe('AWAITING_DELETE');
  });

  it('tells a crash loop of seventy flips with one event, and one when it is over', () => {
    const crashes = (ends: number) => reportHost('UNKNOWN', `Crash looping, ${ends} restarts`, true);
    const reports = [
      reportHost('READY'),
      ...Array.from({ length: 70 }, (_, ends) => crashes(ends + 16)),
      reportHost('READY'),
    ];
    const told: DeploymentEvent[] = [];
    const served = [...created(codehost), activated, provisioned];
    for (const report of reports) told.push(...report(fold([...served, ...told])));
    expect(told.map((event) => factsOf({ ...event, stream: `deployment-${id}` }))).toEqual([
      { deployment_id: id, status: 'UNKNOWN', reason: 'Crash looping, 16 restarts', crash_looping: true },
      { deployment_id: id, status: 'READY' },
    ]);
  });

  it('tells a crash loop until it is over', () => {
    const served = [...created(codehost), activated, provisioned];
    const reason = 'Crash looping, 3 restarts, last line: no module';
    const loops: DeploymentEvent = {
      type: 'DeploymentStatusReported',
      data: { status: 'UNKNOWN', reason, crash_looping: true },
    };
    given(deploymentModel, ...served)
      .when(reportHost('UNKNOWN', reason, true))
      .then(loops);
    const looping = fold([...served, loops])!;
    expect(deploymentRecord(looping)).toMatchObject({ crash_looping: true, status_reason: reason });
    expect(deploymentOf(deploymentRecord(looping), unshownPart(looping))).toMatchObject({ crash_looping: true });
    const over: DeploymentEvent = { type: 'DeploymentStatusReported', data: { status: 'READY' } };
    expect(deploymentRecord(fold([...served, loops, over])!)).not.toHaveProperty('crash_looping');
  });

  it('a first revision that is deployed provisions it, also when it was UNKNOWN until then, and no later one does', () => {
    const unknown: DeploymentEvent = {
      type: 'DeploymentStatusReported',
      data: { status: 'UNKNOWN', reason: 'no route' },
    };
    const deploying = [...created(codehost), moved(1, 'QUEUED', 'DEPLOYING')];
    for (const before of [[], [unknown]]) {
      given(deploymentModel, ...deploying, ...before)
        .when(reporting(1, 'DEPLOYED'))
        .then(moved(1, 'DEPLOYING', 'DEPLOYED'), activated, provisioned);
    }
    const served = [...deploying, unknown, moved(1, 'DEPLOYING', 'DEPLOYED'), activated, provisioned];
    expect(fold(served)).toMatchObject({ status: 'READY', status_reason: undefined });
    given(deploymentModel, ...served, revision(2, snapshotOf(codehost)), moved(2, 'QUEUED', 'DEPLOYING'), unknown)
      .when(reporting(2, 'DEPLOYED'))
      .then(moved(2, 'DEPLOYING', 'DEPLOYED'), {
        type: 'RevisionActivated',
        data: { revision_id: revisionId(2), previous_revision_id: revisionId(1) },
      });
  });

  it('removed is not found', () => {
    const removed = [...deleting, ...completeDeletion(fold(deleting))];
    given(deploymentModel, ...removed)
      .when(patching({}))
      .throws(DeploymentNotFound);
    given(deploymentModel, ...removed)
      .when(completeDeletion)
      .then();
  });
});

describe('rule 10: secrets', () => {
  const kept = { name: 'TOKEN' };

  it('a PATCH replaces the whole list and [] removes all', () => {
    const secrets = [secret('B', 'b'), secret('A', 'a')];
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets }))
      .thenState((after) => expect(after!.secrets).toEqual(secrets));
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets: [] }))
      .thenState((after) => expect(after!.secrets).toEqual([]));
  });

  it('the mask keeps the stored value', () => {
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets: [kept] }))
      .then();
    const added = secret('NEW', 'n');
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets: [added, kept] }))
      .thenState((after) => expect(after!.secrets).toEqual([added, token]));
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets: [{ name: 'UNKNOWN' }] }))
      .throws(InvalidDeployment, "The secret 'UNKNOWN' in secrets has no stored value to keep.");
  });

  it.each([
    '',
    'PORT',
    'DATABASE_URI',
    'POSTGRES_URI',
    'REDIS_URI',
    'FAIRLEAD_ANYTHING',
    'A=B',
    'a-b',
    'a.b',
    '1A',
    'A B',
    'Ä',
  ])('the name %p is refused', (name) => {
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets: [secret(name, 'x')] }))
      .throws(InvalidDeployment);
    expect(() => created({ ...codehost, secrets: [secret(name, 'x')] })).toThrow(InvalidDeployment);
  });

  it('a name used twice is refused', () => {
    const secrets = [secret('A', 'a'), secret('A', 'b')];
    expect(() => created({ ...codehost, secrets })).toThrow("The name 'A' appears more than once in secrets.");
    given(deploymentModel, ...created(codehost))
      .when(patching({ secrets }))
      .throws(InvalidDeployment, 'more than once');
  });

  it.each([
    [['PORT'], "The name 'PORT' in secret_references is reserved."],
    [['R', 'R'], "The name 'R' appears more than once in secret_references."],
    [['MODEL_KEY'], "The name 'MODEL_KEY' is in secrets and in secret_references."],
  ])('secret_references take no names %p either', (names, message) => {
    const secret_references = names.map((name) => ({ name, secret_name: 'db', secret_key: 'url' }));
    const secrets = [secret('MODEL_KEY', 'x')];
    expect(() => created({ ...container, secrets, secret_references })).toThrow(message);
    given(deploymentModel, ...created({ ...container, secrets }))
      .when(patching({ secret_references }))
      .throws(InvalidDeployment, message);
  });

  it.each([
    ['secret_name', { secret_name: '-rf x' }],
    ['secret_name', { secret_name: 'Db' }],
    ['secret_name', { secret_name: 'a'.repeat(254) }],
    ['secret_key', { secret_key: 'a/b' }],
    ['secret_key', { secret_key: '..' }],
  ])('a %s that no cluster has is refused: %j', (member, wrong) => {
    const secret_references = [{ name: 'DB', secret_name: 'my-db.v1', secret_key: '.url_1', ...wrong }];
    const message = `${member} of 'DB' in secret_references must be`;
    expect(() => created({ ...container, secret_references })).toThrow(message);
    given(deploymentModel, ...created(container))
      .when(patching({ secret_references }))
      .throws(InvalidDeployment, message);
  });

  it('a secret does not get the name of a reference', () => {
    given(deploymentModel, ...created(container))
      .when(patching({ secrets: [secret('DB', 'x')] }))
      .throws(InvalidDeployment, "The name 'DB' is in secrets and in secret_references.");
  });
});

describe('rule 11: image_version', () => {
  it.each([
    ['registry.example/team/agent:1.4.2', '1.4.2'],
    ['localhost:5000/agent:v2_beta.1', 'v2_beta.1'],
    ['localhost:5000/agent', null],
    ['agent@sha256:aaaa', null],
    ['agent:1.0@sha256:aaaa', null],
    [undefined, null],
  ])('of %p is %p', (uri, version) => expect(imageVersion(uri)).toBe(version));
});

describe('rule 12: a tracing project of the same name', () => {
  it('is remembered when it has another one', () => {
    given(deploymentModel, ...created(codehost))
      .when(decide(nameTracingProject(codehost.name)))
      .then();
    const named: DeploymentEvent = { type: 'TracingProjectNamed', data: { name: 'another' } };
    given(deploymentModel, ...created(codehost))
      .when(decide(nameTracingProject('another')))
      .then(named);
    given(deploymentModel, ...created(codehost), named)
      .when(decide(nameTracingProject('another')))
      .then();
  });

  it('others learn the name when the deployment is created and when it goes', () => {
    expect(created(codehost)[0]).toMatchObject({
      data: { name: 'support-agent', tenant_id: tenant, deployment_id: id },
    });
    given(deploymentModel, ...created(codehost))
      .when(decide(requestDeletion(true)))
      .then({ type: 'DeploymentDeletionRequested', data: { name: 'support-agent', delete_tracing_project: true } });
  });
});

describe('a roll-back', () => {
  it('makes a new revision from the whole snapshot of an earlier one', () => {
    const first = { ...snapshotOf(codehost), resource_spec: { cpu: 1 } };
    const earlier = { id: revisionId(1), created_at: '', updated_at: '', status: 'DEPLOYED' as const, ...first };
    given(deploymentModel, ...created(codehost), revision(2, { ...first, secrets: [], resource_spec: { cpu: 4 } }))
      .when(decide(redeploy(earlier, revisionId(3), 'any')))
      .thenState((after, events) => {
        expect(events).toMatchObject([{ type: 'RevisionCreated', data: { redeployed_from: revisionId(1), ...first } }]);
        expect(after!.secrets).toEqual([token]);
        expect(after!.source_config.resource_spec).toEqual({ cpu: 1 });
        expect(after!.latest_revision_id).toBe(revisionId(3));
      });
  });

  it('brings back the source and the secret references as well', () => {
    const earlier = { id: revisionId(1), created_at: '', updated_at: '', status: 'DEPLOYED' as const };
    const pushedOnce: Snapshot = {
      source: 'internal_container',
      source_revision_config: { image_uri: 'agent:1' },
      resource_spec: null,
      secrets: [],
      secret_references: [{ name: 'DB', secret_name: 'db', secret_key: 'url' }],
    };
    const again = (hosting: Hosting) => decide(redeploy({ ...earlier, ...pushedOnce }, revisionId(3), hosting));
    given(deploymentModel, ...created(container), revision(2, snapshotOf(container)))
      .when(again('any'))
      .then({
        type: 'RevisionCreated',
        data: {
          revision_id: revisionId(3),
          deployment_id: id,
          redeployed_from: revisionId(1),
          ...pushedOnce,
        },
      });
    given(deploymentModel, ...created(container))
      .when(again('self_hosted'))
      .throws(InvalidDeployment, "source 'internal_container' is available only for cloud-hosted deployments.");
  });
});

describe('tags', () => {
  it('are replaced; the same set in another order changes nothing', () => {
    const tagged: DeploymentEvent = { type: 'DeploymentTagged', data: { tag_value_ids: ['a', 'b'] } };
    given(deploymentModel, ...created(codehost))
      .when(decide(tag(['a', 'b', 'a'])))
      .then(tagged);
    given(deploymentModel, ...created(codehost), tagged)
      .when(decide(tag(['b', 'a'])))
      .then();
  });
});

describe('tenancy', () => {
  it('another tenant’s deployment is not found', () => {
    const stranger = owned(deploymentAggregate, 'another', id, requestDeletion(false));
    given(deploymentModel, ...created(codehost))
      .when(stranger)
      .throws(DeploymentNotFound, `Deployment ID ${id} not found.`);
    given(deploymentModel)
      .when(decide(requestDeletion(false)))
      .throws(DeploymentNotFound);
  });
});

function fold(events: DeploymentEvent[]): DeploymentState {
  let state: DeploymentState = null;
  given(deploymentModel, ...events)
    .when((folded) => ((state = folded), []))
    .then();
  return state;
}
