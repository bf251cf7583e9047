import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fold, type Recorded, upcast } from '@fairlead/eventing';
import { deploymentModel } from '../deployment/deployment';
import type { DeploymentEvent } from '../deployment/deployment-events';
import { deploymentUpcasters } from '../deployment/deployments.upcasters';
import { revisionsModel } from '../revision/revision';

interface History {
  readonly description: string;
  readonly events: (Omit<Recorded, 'position'> & { position: string })[];
  readonly expected: { readonly state: unknown; readonly revisions: unknown };
}

const folder = join(__dirname, 'recorded');
const histories = readdirSync(folder).map((file) => {
  const { description, events, expected } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as History;
  const recorded = events.map((event): Recorded => ({ ...event, position: BigInt(event.position) }));
  return { file, description, expected, events: recorded };
});

/** Every type of event that was ever written. */
const TYPES: Record<DeploymentEvent['type'], true> = {
  DeploymentCreated: true,
  DeploymentProvisioned: true,
  DeploymentStatusReported: true,
  DeploymentPatched: true,
  RevisionCreated: true,
  RevisionStatusChanged: true,
  RevisionActivated: true,
  RevisionCommitResolved: true,
  BuildOnPushPaused: true,
  UploadPathIssued: true,
  DeploymentTagged: true,
  DeploymentDeletionRequested: true,
  DeploymentDeleted: true,
};

describe('recorded histories', () => {
  it.each(histories)('$file is still understood: $description', ({ events, expected }) => {
    const current = events.map((event) => upcast<DeploymentEvent>(deploymentUpcasters, event));
    const revisions = [...fold(revisionsModel, current).values()];
    const seen = revisions.map(({ id, status, updated_at }) => ({ id, status, updated_at }));
    expect(JSON.parse(JSON.stringify(fold(deploymentModel, current)))).toEqual(expected.state);
    expect(seen).toEqual(expected.revisions);
  });

  it('hold every type of event', () => {
    const recorded = new Set(histories.flatMap(({ events }) => events.map(({ type }) => type)));
    expect([...recorded].sort()).toEqual(Object.keys(TYPES).sort());
  });
});
