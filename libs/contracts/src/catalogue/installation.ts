import type { Row } from './row';

/** Events of workspaces, API keys, sessions of the console, webhooks and the log itself. */
export const installationEvents = {
  TenantCreated: { schema: 1, operation: 'create_workspace' },
  TenantSuspended: { schema: 1, operation: 'suspend_workspace' },
  TenantResumed: { schema: 1, operation: 'resume_workspace' },
  TenantRemovalRequested: { schema: 1, operation: 'delete_workspace' },
  TenantRemoved: { schema: 1, operation: 'delete_tenant' },
  ApiKeyCreated: { schema: 1, operation: 'create_api_key' },
  ApiKeyRevoked: { schema: 1, operation: 'delete_api_key' },
  ConsoleSessionCreated: { schema: 1, operation: 'create_console_session' },
  ConsoleSessionUsed: { schema: 1, operation: 'console_session_used' },
  ConsoleSessionRevoked: { schema: 1, operation: 'delete_console_session' },
  ConsoleCodeIssued: { schema: 1, operation: 'create_console_code' },
  ConsoleCodeUsed: { schema: 1, operation: 'console_code_used' },
  WebhookAdded: { schema: 1, operation: 'create_webhook' },
  WebhookChanged: { schema: 1, operation: 'update_webhook' },
  WebhookSecretRotated: { schema: 1, operation: 'webhook_secret_rotated' },
  WebhookDisabled: { schema: 1, operation: 'webhook_disabled' },
  WebhookRemoved: {
    schema: 1,
    operation: 'delete_webhook',
    topic: 'internal.v1',
    facts: (_: unknown, webhook_id) => ({ webhook_id }),
  },
  NameReserved: { schema: 1, operation: 'name_reserved' },
  NameReleased: { schema: 1, operation: 'name_released' },
  LogKeyCreated: { schema: 1, operation: 'create_log_key' },
  LogSealed: { schema: 1, operation: 'log_sealed' },
} as const satisfies Readonly<Record<string, Row>>;
