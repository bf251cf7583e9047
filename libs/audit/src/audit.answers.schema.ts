import { shape } from '@fairlead/api';

const { boolean, free, integer, list, noted, nullable, object, oneOf, text, time, unused, uuid } = shape;

/** Ids, names and words of the OCSF schema, https://schema.ocsf.io, class API Activity. */
const activity = object('ApiActivity', {
  class_uid: noted(integer, 'Class of the entry in OCSF: always 6003.'),
  class_name: noted(text, 'Name of that class: always `API Activity`.'),
  category_uid: noted(integer, 'Category of the class in OCSF: always 6.'),
  category_name: noted(text, 'Name of that category: always `Application Activity`.'),
  severity_id: noted(integer, 'Severity in OCSF: always 99, other.'),
  type_uid: noted(integer, 'Class and activity in one number: 600300 plus `activity_id`.'),
  activity_id: noted(integer, 'Kind of operation in OCSF: 1 create, 2 read, 3 update, 4 delete, 99 other.'),
  activity_name: noted(text, 'Name of that kind of operation.'),
  status_id: noted(integer, '1 success, 2 failure.'),
  status: noted(oneOf('Success', 'Failure'), '`Failure` for attempts that were refused with 401 or 403.'),
  time: noted(integer, 'When it happened, in milliseconds since 1970.'),
  count: noted(integer, 'Number of attempts that the entry stands for: refused ones are summed by the minute.'),
  metadata: noted(
    object('ActivityMetadata', {
      uid: noted(text, 'Identifier of the entry.'),
      product: noted(
        object('ActivityProduct', {
          name: noted(text, 'Always `Fairlead`.'),
          vendor_name: noted(text, 'Always `Fairlead`.'),
        }),
        'Software that wrote the entry.',
      ),
    }),
    'About the entry itself.',
  ),
  api: noted(
    object('ActivityApi', {
      operation: noted(text, 'Name of the operation, such as `create_deployment`; `operations` filters by it.'),
    }),
    'What was done.',
  ),
  http_request: noted(
    object('ActivityRequest', {
      uid: noted(nullable(text), 'The `x-request-id`; null when no request caused it.'),
      http_method: noted(text, 'Method of the request; empty when no request caused it.'),
      url: noted(
        object('ActivityUrl', { path: noted(text, 'Path of the request; empty when no request caused it.') }),
        'Address of the request.',
      ),
    }),
    'Request that caused it.',
  ),
  http_response: noted(
    object('ActivityResponse', {
      code: noted(nullable(integer), 'HTTP status of a refused attempt; null when the request was carried out.'),
    }),
    'How the request was answered.',
  ),
  actor: noted(
    object('ActivityActor', {
      user: noted(
        object('ActivityUser', {
          uid: unused,
          name: noted(nullable(text), 'Description of the API key; null for others.'),
          credential_uid: noted(
            nullable(text),
            'Identifier of the API key, or `system:` and the name of a service; null when the key is not known.',
          ),
        }),
        'Who it was.',
      ),
    }),
    'Who did it.',
  ),
  src_endpoint: noted(
    object('ActivityEndpoint', {
      ip: noted(nullable(text), 'IP address of the client; null where it was not recorded.'),
      port: unused,
      intermediate_ips: unused,
    }),
    'Where the request came from.',
  ),
  resources: noted(
    list(
      object('ActivityResource', {
        uid: noted(text, 'Identifier of the resource.'),
        type: noted(nullable(text), 'Kind of resource, such as `deployment`; null where it is not known.'),
      }),
    ),
    'What the operation was done to.',
  ),
  unmapped: noted(
    object('ActivityUnmapped', {
      original_audit_log: noted(
        object('AuditLogMessage', {
          id: noted(text, 'Identifier of the entry.'),
          operation_name: noted(text, 'Name of the operation, as in `api.operation`.'),
          operation_succeeded: noted(boolean, 'False for refused attempts.'),
          request_time: noted(time, 'When it happened.'),
          api_key_id: noted(nullable(text), 'Identifier of the API key; null when the key is not known.'),
          user_id: unused,
          ls_user_id: unused,
          organization_id: noted(uuid, 'Organisation of the workspace.'),
          workspace_id: noted(uuid, 'Workspace in which it happened.'),
          enrichments: noted(
            object('AuditLogEnrichments', {
              request_method: noted(text, 'Method of the request; empty when no request caused it.'),
              request_path: noted(text, 'Path of the request; empty when no request caused it.'),
              request_id: noted(nullable(text), 'The `x-request-id`; null when no request caused it.'),
              reason: noted(nullable(text), 'The header `x-reason` of the request; null when it was not sent.'),
              client_host: noted(nullable(text), 'IP address of the client; null where it was not recorded.'),
              response_status_code: noted(nullable(integer), 'HTTP status of a refused attempt; else null.'),
              resource_ids: noted(list(text), 'Identifiers of what the operation was done to.'),
            }),
            'Further facts about the request.',
          ),
        }),
        'The same entry in the form in which clients of LangSmith read it.',
      ),
    }),
    'What OCSF has no member for.',
  ),
});

export const auditLog = object('AuditLogPage', {
  items: noted(list(activity), 'The entries of this page, the newest first.'),
  cursor: noted(nullable(text), 'Value for `cursor` to get the next page; null on the last one.'),
});

/** RFC 7517. */
export const keySet = object('JsonWebKeySet', {
  keys: noted(list(free), 'Public keys (Ed25519) as JSON Web Keys; `kid` is the `key_id` of a signature.'),
});
