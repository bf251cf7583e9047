import { publications } from '@fairlead/contracts';
import { activityOf, operationOf } from './operation';

it.each([
  ['DeploymentCreated', 'create_deployment', 1],
  ['DeploymentPatched', 'update_deployment', 3],
  ['ApiKeyRevoked', 'delete_api_key', 4],
  ['ExperimentUploaded', 'create_experiment_via_upload', 1],
  ['FeedbackAdded', 'create_feedback', 1],
  ['WebhookRemoved', 'delete_webhook', 4],
  ['SessionPatched', 'update_tracer_session', 3],
  ['SecretsRead', 'read_secrets', 2],
  ['DeploymentStopRequested', 'stop_deployment', 3],
  ['CommandStarted', 'run_command', 3],
  ['BuildOnPushPaused', 'build_on_push_paused', 99],
  ['CommitSkipped', 'commit_skipped', 99],
  ['constructor', 'constructor', 99],
  ['ThingChanged', 'update_thing', 3],
])('%s is the operation %s', (type, operation, activity) => {
  expect(operationOf(type)).toBe(operation);
  expect(activityOf(operation).id).toBe(activity);
});

it.each([...publications.topics.keys()])('%s, which services tell each other, is a known kind of operation', (type) => {
  expect(activityOf(operationOf(type)).name).not.toBe('Other');
});
