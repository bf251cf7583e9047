import { EVENT_TYPES } from '@fairlead/contracts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { activityOf, KNOWN, operationOf } from './operation';

/** Every type of event that the sources of the libraries declare. */
function declaredTypes(): Set<string> {
  const folder = join(process.cwd(), 'libs');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => /^[^/]+\/src\/.*(?<!\.spec)\.ts$/.test(file) && !file.endsWith('.d.ts'));
  const types = sources.flatMap((file) => [
    ...readFileSync(join(folder, file), 'utf8').matchAll(/\bDomainEvent<\s*'(\w+)'/g),
  ]);
  return new Set(types.map(([, type]) => type!));
}

it.each([
  ['DeploymentCreated', 'create_deployment', 1],
  ['DeploymentPatched', 'update_deployment', 3],
  ['ApiKeyRevoked', 'delete_api_key', 4],
  ['ExperimentUploaded', 'create_experiment_via_upload', 1],
  ['FeedbackAdded', 'create_feedback', 1],
  ['WebhookRemoved', 'delete_webhook', 4],
  ['SessionPatched', 'update_tracer_session', 3],
  ['SecretsRead', 'read_secrets', 2],
  ['BuildOnPushPaused', 'build_on_push_paused', 99],
  ['constructor', 'constructor', 99],
])('%s is the operation %s', (type, operation, activity) => {
  expect(operationOf(type)).toBe(operation);
  expect(activityOf(operation).id).toBe(activity);
});

it.each(EVENT_TYPES)('%s, which services tell each other, is a known kind of operation', (type) => {
  expect(activityOf(operationOf(type)).name).not.toBe('Other');
});

it('every type that has a name of its own is a type of event that is recorded', () => {
  const declared = declaredTypes();
  expect(Object.keys(KNOWN).filter((type) => !declared.has(type))).toEqual([]);
});
