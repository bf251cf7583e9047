import { owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import { TENANT } from '@fairlead/edge/testing';
import { codehost, creation, uuidOf } from '../testing/samples';
import { control } from './control';
import { deploymentAggregate, deploymentModel, requestDeletion } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { DeploymentBeingDeleted, NotControllable } from './deployment.errors';

const id = uuidOf(1);
const [created, revision] = creation(1, codehost('agent')) as [DeploymentEvent, DeploymentEvent];
const deployedBy = (executor?: string): DeploymentEvent => ({
  type: 'RevisionActivated',
  data: { revision_id: uuidOf(1001), previous_revision_id: null, ...(executor && { executor }) },
});
const asked = (what: 'Stop' | 'Start' | 'Restart'): DeploymentEvent => ({
  type: `Deployment${what}Requested`,
  data: {},
});
const decide = (action: Parameters<typeof control>[0]) => owned(deploymentAggregate, TENANT, id, control(action));
const running = [created, revision, deployedBy('kubernetes')];

describe('what runs', () => {
  it('is stopped once, restarted as often as somebody wishes, and started when it is stopped', () => {
    const stopped = [...running, asked('Stop')];
    given(deploymentModel, ...running)
      .when(decide('stop'))
      .then(asked('Stop'));
    given(deploymentModel, ...stopped)
      .when(decide('stop'))
      .then();
    given(deploymentModel, ...running)
      .when(decide('start'))
      .then();
    given(deploymentModel, ...stopped)
      .when(decide('start'))
      .then(asked('Start'));
    given(deploymentModel, ...stopped, asked('Start'))
      .when(decide('stop'))
      .then(asked('Stop'));
    given(deploymentModel, ...running, asked('Restart'))
      .when(decide('restart'))
      .then(asked('Restart'));
  });

  it('is stopped once more when it is UNKNOWN whether it has stopped', () => {
    const unknown: DeploymentEvent = {
      type: 'DeploymentStatusReported',
      data: { status: 'UNKNOWN', reason: 'It did not stop.' },
    };
    given(deploymentModel, ...running, asked('Stop'), unknown)
      .when(decide('stop'))
      .then(asked('Stop'));
  });

  it('stays stopped when a revision is deployed', () => {
    const again = [asked('Stop'), revision, deployedBy('kubernetes')];
    given(deploymentModel, ...running, ...again)
      .when(decide('start'))
      .then(asked('Start'));
  });

  it.each([
    ['stop', [created, revision], 'stopped: no revision of it has been deployed'],
    [
      'stop',
      [created, revision, deployedBy('record')],
      'stopped: it is recorded, and nothing is run (EXECUTOR=record)',
    ],
    [
      'restart',
      [created, revision, deployedBy('command')],
      'restarted: the executor command does not know what its commands have started',
    ],
    [
      'start',
      [created, revision, deployedBy()],
      'started: the executor that deployed it (not recorded) cannot do that',
    ],
    ['restart', [...running, asked('Stop')], 'restarted: it is stopped; start it instead'],
  ] as const)('cannot be changed by %s, and is told why', (action, events, reason) => {
    given(deploymentModel, ...events)
      .when(decide(action))
      .throws(NotControllable, `Deployment ID ${id} cannot be ${reason}.`);
  });

  it('of a deployment that is being deleted is left alone', () => {
    const deleting = requestDeletion(false);
    given(deploymentModel, ...running, ...deleting({ status: 'READY', name: 'agent' } as never))
      .when(decide('stop'))
      .throws(DeploymentBeingDeleted);
  });
});
