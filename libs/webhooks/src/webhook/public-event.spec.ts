import { recorded } from '@fairlead/eventing/testing';
import { EVENT_TYPES } from './event-types';
import { publicEvent, PUBLISHED } from './public-event';

const SECRET = 'never-to-be-told';
const secrets = [{ name: 'KEY', sealed: { subject: 's', sealed: SECRET }, digest: SECRET }];
const tell = (type: string, data: object = {}) => {
  const told = publicEvent(recorded([{ type, data }], 'thing-7')[0]!);
  return told && [told.type, JSON.parse(JSON.stringify(told.data))];
};
const source_config = {
  integration_id: 'i',
  repo_url: 'https://git.example/a',
  resource_spec: { env: [{ name: 'A', value: SECRET }] },
  install_command: `pip install --index https://${SECRET}@pypi.example`,
  build_command: SECRET,
};

it('tells of a deployment what is plain', () => {
  const message = { name: 'agent', source: 'codehost', source_config, source_revision_config: { repo_ref: 'main' } };
  const told = publicEvent(
    recorded([{ type: 'DeploymentCreated', data: { ...message, secrets } }], 'deployment-7')[0]!,
  );
  expect(JSON.parse(JSON.stringify(told))).toEqual({
    type: 'deployment.created',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: {
      deployment_id: '7',
      name: 'agent',
      source: 'codehost',
      source_config: { integration_id: 'i', repo_url: 'https://git.example/a' },
      source_revision_config: { repo_ref: 'main' },
    },
  });
});

it('names what was patched, and shows what is plain of it', () => {
  const { resource_spec, build_command } = source_config;
  expect(
    tell('DeploymentPatched', { source_config: { resource_spec, build_command, custom_url: 'u' }, secrets }),
  ).toEqual([
    'deployment.patched',
    {
      deployment_id: '7',
      changed: ['source_config.resource_spec', 'source_config.build_command', 'source_config.custom_url', 'secrets'],
      source_config: { custom_url: 'u' },
    },
  ]);
});

it.each([
  ['DeploymentProvisioned', {}, 'deployment.status_changed', { deployment_id: '7', status: 'READY' }],
  [
    'DeploymentStatusReported',
    { status: 'UNKNOWN', reason: 'away' },
    'deployment.status_changed',
    { deployment_id: '7', status: 'UNKNOWN', reason: 'away' },
  ],
  [
    'DeploymentDeletionRequested',
    { name: 'a', delete_tracing_project: true },
    'deployment.status_changed',
    { deployment_id: '7', status: 'AWAITING_DELETE' },
  ],
  ['DeploymentDeleted', { name: 'a' }, 'deployment.deleted', { deployment_id: '7', name: 'a' }],
  [
    'RevisionCreated',
    { revision_id: 'r', deployment_id: '7', source: 'codehost', source_revision_config: { repo_ref: 'm' }, secrets },
    'revision.created',
    {
      revision_id: 'r',
      deployment_id: '7',
      source: 'codehost',
      source_revision_config: { repo_ref: 'm' },
      redeployed_from: null,
    },
  ],
  [
    'RevisionStatusChanged',
    { revision_id: 'r', previous_status: 'QUEUED', status: 'DEPLOYED' },
    'revision.status_changed',
    { revision_id: 'r', deployment_id: '7', previous_status: 'QUEUED', status: 'DEPLOYED' },
  ],
  [
    'RevisionActivated',
    { revision_id: 'r', previous_revision_id: 'q' },
    'revision.activated',
    { revision_id: 'r', deployment_id: '7', previous_revision_id: 'q' },
  ],
  [
    'DatasetCreated',
    { name: 'd', description: null, data_type: 'kv', externally_managed: true },
    'dataset.created',
    { dataset_id: '7', name: 'd', description: null, data_type: 'kv' },
  ],
  ['DatasetDeleted', {}, 'dataset.deleted', { dataset_id: '7' }],
  [
    'ExperimentUploaded',
    {
      name: 'e',
      start_time: 's',
      end_time: 't',
      row_count: 3,
      test_run_number: 1,
      dataset: { id: 'd', name: 'n', description: SECRET },
      metadata: SECRET,
      payload: { sha256: SECRET, bytes: 1 },
    },
    'experiment.uploaded',
    {
      session_id: '7',
      name: 'e',
      dataset_id: 'd',
      dataset_name: 'n',
      test_run_number: 1,
      row_count: 3,
      start_time: 's',
      end_time: 't',
    },
  ],
  [
    'RunsPersisted',
    { run_count: 3, error_rate: 0, latency_p50: 1, latency_p99: 2, example_count: 3, feedback_stats: SECRET },
    'experiment.runs_persisted',
    { session_id: '7', run_count: 3, error_rate: 0, latency_p50: 1, latency_p99: 2, example_count: 3 },
  ],
  [
    'SessionCreated',
    { name: 's', reference_dataset_id: null, extra: SECRET },
    'session.created',
    { session_id: '7', name: 's', reference_dataset_id: null, deployment_id: null },
  ],
  ['SessionDeleted', {}, 'session.deleted', { session_id: '7' }],
  [
    'FeedbackAdded',
    { id: 'f', run_id: 'r', key: 'k', score: 1, value: SECRET, comment: SECRET, created_at: 't' },
    'feedback.added',
    { feedback_id: 'f', session_id: '7', run_id: 'r', key: 'k', score: 1, created_at: 't' },
  ],
  [
    'FeedbackUploaded',
    { id: 'f', run_id: 'r', key: 'k', score: 1, created_at: 't' },
    'feedback.added',
    { feedback_id: 'f', session_id: '7', run_id: 'r', key: 'k', score: 1, created_at: 't' },
  ],
  [
    'IntegrationAdded',
    { name: 'i', provider: 'gitlab', base_url: 'u', auth: { token: SECRET }, webhook_secret: SECRET },
    'integration.added',
    { integration_id: '7', name: 'i', provider: 'gitlab', base_url: 'u' },
  ],
  [
    'IntegrationChanged',
    { auth: { token: SECRET } },
    'integration.changed',
    { integration_id: '7', changed: ['auth'] },
  ],
  ['IntegrationRemoved', { integration_id: '7' }, 'integration.removed', { integration_id: '7' }],
  [
    'OAuthProviderAdded',
    { provider_id: 'p', name: 'n', client_id: 'c', client_secret: SECRET },
    'oauth_provider.added',
    { id: '7', provider_id: 'p', name: 'n' },
  ],
  [
    'OAuthProviderChanged',
    { client_secret: SECRET },
    'oauth_provider.changed',
    { id: '7', changed: ['client_secret'] },
  ],
  ['OAuthProviderRemoved', {}, 'oauth_provider.removed', { id: '7' }],
])('tells %s %j as %s', (type, message, told, data) => {
  expect(tell(type, message)).toEqual([told, data]);
});

it('tells nothing of other events', () => {
  expect(tell('UploadPathIssued', { object_path: SECRET })).toBeUndefined();
  expect(tell('toString')).toBeUndefined();
});

it('tells every type that can be subscribed to', () => {
  expect(PUBLISHED).toHaveLength(Object.keys(EVENT_TYPES).length + 3);
});
