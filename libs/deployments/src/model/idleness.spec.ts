import { fold } from '@fairlead/eventing';
import { given, recorded } from '@fairlead/eventing/testing';
import { patch } from './change';
import { type Deployment, deploymentModel, requestDeletion } from './deployment';
import type { DeploymentEvent } from './deployment-events';
import { reportUnused, reportUsed } from './idleness';
import { reportRevision } from './revision';
import { codehost, creation, uuidOf } from '../testing/samples';

const LATER = '2026-02-01T00:00:00.000Z';
const ready: DeploymentEvent[] = [
  ...creation(1, { ...codehost('idle'), source_revision_config: {} }),
  { type: 'DeploymentProvisioned', data: {} },
];
const unused: DeploymentEvent[] = [
  ...ready,
  {
    type: 'DeploymentStatusReported',
    data: { status: 'UNUSED', reason: `Neither changed nor traced since ${LATER}.` },
  },
];
const stateOf = (events: DeploymentEvent[]) => fold(deploymentModel, recorded(events));
const patching = (body: Parameters<typeof patch>[0]) => (state: Deployment | null) =>
  patch(body, uuidOf(9), 'any')(state!);

describe('a deployment that nobody uses', () => {
  it('is UNUSED after the time, once', () => {
    given(deploymentModel, ...ready)
      .when(reportUnused(LATER))
      .then(unused.at(-1)!);
    expect(stateOf(unused)!.status).toBe('UNUSED');
    given(deploymentModel, ...unused)
      .when(reportUnused(LATER))
      .then();
  });

  it('is not, when something happened since, or a revision is waiting or under way', () => {
    given(deploymentModel, ...ready)
      .when(reportUnused('2026-01-01T00:00:00.500Z'))
      .then();
    const waiting = creation(1, codehost('busy'));
    const provisioned: DeploymentEvent = { type: 'DeploymentProvisioned', data: {} };
    given(deploymentModel, ...waiting, provisioned)
      .when(reportUnused(LATER))
      .then();
    const building = reportRevision(uuidOf(1001), 'BUILDING')(stateOf(waiting)!);
    given(deploymentModel, ...waiting, provisioned, ...building)
      .when(reportUnused(LATER))
      .then();
  });

  it('is not, while it is prepared or deleted, nor before it exists', () => {
    given(deploymentModel).when(reportUnused(LATER)).then();
    given(deploymentModel, ...ready.slice(0, 1))
      .when(reportUnused(LATER))
      .then();
    given(deploymentModel, ...ready, ...requestDeletion(false)(stateOf(ready)!))
      .when(reportUnused(LATER))
      .then();
  });

  it('is READY again when it is used, changed, or gets a revision', () => {
    given(deploymentModel, ...unused)
      .when(reportUsed)
      .thenState((after) => expect(after!.status).toBe('READY'));
    given(deploymentModel, ...unused)
      .when(patching({ source_config: { custom_url: 'https://a.example' } }))
      .thenState((after) => expect(after!.status).toBe('READY'));
    given(deploymentModel, ...unused)
      .when(patching({ source_revision_config: { repo_ref: 'main' } }))
      .thenState((after) => expect(after!.status).toBe('READY'));
    given(deploymentModel, ...ready)
      .when(reportUsed)
      .then();
  });
});
