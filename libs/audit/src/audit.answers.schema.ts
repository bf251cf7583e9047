import { shape } from '@fairlead/api';

const { boolean, free, integer, list, noted, nothing, nullable, object, oneOf, text, time, uuid } = shape;

const activity = object('ApiActivity', {
  class_uid: integer,
  class_name: text,
  category_uid: integer,
  category_name: text,
  severity_id: integer,
  type_uid: integer,
  activity_id: integer,
  activity_name: text,
  status_id: integer,
  status: oneOf('Success', 'Failure'),
  time: noted(integer, 'Milliseconds since 1970.'),
  count: noted(integer, 'Like attempts that this entry stands for.'),
  metadata: object('ActivityMetadata', {
    uid: text,
    product: object('ActivityProduct', { name: text, vendor_name: text }),
  }),
  api: object('ActivityApi', { operation: text }),
  http_request: object('ActivityRequest', {
    uid: nullable(text),
    http_method: text,
    url: object('ActivityUrl', { path: text }),
  }),
  http_response: object('ActivityResponse', {
    code: noted(nullable(integer), 'Of a refused attempt; null when the request was carried out.'),
  }),
  actor: object('ActivityActor', {
    user: object('ActivityUser', { uid: nothing, credential_uid: noted(nullable(text), 'Id of the API key.') }),
  }),
  src_endpoint: object('ActivityEndpoint', { ip: nullable(text), port: nothing, intermediate_ips: nothing }),
  resources: list(object('ActivityResource', { uid: text, type: nullable(text) })),
  unmapped: object('ActivityUnmapped', {
    original_audit_log: object('AuditLogMessage', {
      id: text,
      operation_name: text,
      operation_succeeded: boolean,
      request_time: time,
      api_key_id: nullable(text),
      user_id: nothing,
      ls_user_id: nothing,
      organization_id: uuid,
      workspace_id: uuid,
      enrichments: object('AuditLogEnrichments', {
        request_method: text,
        request_path: text,
        request_id: nullable(text),
        reason: nullable(text),
        client_host: nullable(text),
        response_status_code: nullable(integer),
        resource_ids: list(text),
      }),
    }),
  }),
});

export const auditLog = object('AuditLogPage', { items: list(activity), cursor: nullable(text) });

/** RFC 7517. */
export const keySet = object('JsonWebKeySet', { keys: list(free) });
