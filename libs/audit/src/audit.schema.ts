import {
  anyObject,
  bool,
  csv,
  datetime,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  str,
  timestamp,
  unused,
  uuid,
} from '@fairlead/schema';

const MOST_OPERATIONS = 100;

export const auditQuery = object({
  limit: note(optional(int({ ge: 1, le: 100 }), 10), 'Largest number of entries in the answer.'),
  cursor: note(optional(str()), 'The `cursor` of the previous page; absent: the newest entries.'),
  workspace_id: note(optional(uuid()), 'The workspace of the request; another one is answered 403.'),
  start_time: note(optional(datetime()), 'Only entries from this time on.'),
  end_time: note(optional(datetime()), 'Only entries up to this time.'),
  operations: note(
    optional(csv(str(), { max: MOST_OPERATIONS })),
    'Only these operations, such as `delete_deployment`; separated by commas, or repeated.',
  ),
  actor: note(optional(uuid()), 'Only what this API key did, by its `id`.'),
  resource_id: note(optional(str()), 'Only what was done to the resource with this identifier.'),
  request_id: note(optional(str()), 'Only what the request with this `x-request-id` did.'),
  outcome: note(
    optional(literal(['success', 'refused'])),
    '`success`: only what was done. `refused`: only attempts that were answered 401 or 403.',
  ),
});

/** Ids, names and words of the OCSF schema, https://schema.ocsf.io, class API Activity. */
const activity = object('ApiActivity', {
  class_uid: note(int(), 'Class of the entry in OCSF: always 6003.'),
  class_name: note(str(), 'Name of that class: always `API Activity`.'),
  category_uid: note(int(), 'Category of the class in OCSF: always 6.'),
  category_name: note(str(), 'Name of that category: always `Application Activity`.'),
  severity_id: note(int(), 'Severity in OCSF: always 99, other.'),
  type_uid: note(int(), 'Class and activity in one number: 600300 plus `activity_id`.'),
  activity_id: note(int(), 'Kind of operation in OCSF: 1 create, 2 read, 3 update, 4 delete, 99 other.'),
  activity_name: note(str(), 'Name of that kind of operation.'),
  status_id: note(int(), '1 success, 2 failure.'),
  status: note(literal(['Success', 'Failure']), '`Failure` for attempts that were refused with 401 or 403.'),
  time: note(int(), 'When it happened, in milliseconds since 1970.'),
  count: note(int(), 'Number of attempts that the entry stands for: refused ones are summed by the minute.'),
  metadata: note(
    object('ActivityMetadata', {
      uid: note(str(), 'Identifier of the entry.'),
      product: note(
        object('ActivityProduct', {
          name: note(str(), 'Always `Fairlead`.'),
          vendor_name: note(str(), 'Always `Fairlead`.'),
        }),
        'Software that wrote the entry.',
      ),
    }),
    'About the entry itself.',
  ),
  api: note(
    object('ActivityApi', {
      operation: note(str(), 'Name of the operation, such as `create_deployment`; `operations` filters by it.'),
    }),
    'What was done.',
  ),
  http_request: note(
    object('ActivityRequest', {
      uid: note(nullable(str()), 'The `x-request-id`; null when no request caused it.'),
      http_method: note(str(), 'Method of the request; empty when no request caused it.'),
      url: note(
        object('ActivityUrl', { path: note(str(), 'Path of the request; empty when no request caused it.') }),
        'Address of the request.',
      ),
    }),
    'Request that caused it.',
  ),
  http_response: note(
    object('ActivityResponse', {
      code: note(nullable(int()), 'HTTP status of a refused attempt; null when the request was carried out.'),
    }),
    'How the request was answered.',
  ),
  actor: note(
    object('ActivityActor', {
      user: note(
        object('ActivityUser', {
          uid: unused,
          name: note(nullable(str()), 'Description of the API key; null for others.'),
          credential_uid: note(
            nullable(str()),
            'Identifier of the API key, or `system:` and the name of a service; null when the key is not known.',
          ),
        }),
        'Who it was.',
      ),
    }),
    'Who did it.',
  ),
  src_endpoint: note(
    object('ActivityEndpoint', {
      ip: note(nullable(str()), 'IP address of the client; null where it was not recorded.'),
      port: unused,
      intermediate_ips: unused,
    }),
    'Where the request came from.',
  ),
  resources: note(
    list(
      object('ActivityResource', {
        uid: note(str(), 'Identifier of the resource.'),
        type: note(nullable(str()), 'Kind of resource, such as `deployment`; null where it is not known.'),
      }),
    ),
    'What the operation was done to.',
  ),
  unmapped: note(
    object('ActivityUnmapped', {
      original_audit_log: note(
        object('AuditLogMessage', {
          id: note(str(), 'Identifier of the entry.'),
          operation_name: note(str(), 'Name of the operation, as in `api.operation`.'),
          operation_succeeded: note(bool(), 'False for refused attempts.'),
          request_time: note(timestamp(), 'When it happened.'),
          api_key_id: note(nullable(str()), 'Identifier of the API key; null when the key is not known.'),
          user_id: unused,
          ls_user_id: unused,
          organization_id: note(uuid(), 'Organisation of the workspace.'),
          workspace_id: note(uuid(), 'Workspace in which it happened.'),
          enrichments: note(
            object('AuditLogEnrichments', {
              request_method: note(str(), 'Method of the request; empty when no request caused it.'),
              request_path: note(str(), 'Path of the request; empty when no request caused it.'),
              request_id: note(nullable(str()), 'The `x-request-id`; null when no request caused it.'),
              reason: note(nullable(str()), 'The header `x-reason` of the request; null when it was not sent.'),
              client_host: note(nullable(str()), 'IP address of the client; null where it was not recorded.'),
              response_status_code: note(nullable(int()), 'HTTP status of a refused attempt; else null.'),
              resource_ids: note(list(str()), 'Identifiers of what the operation was done to.'),
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
  items: note(list(activity), 'The entries of this page, the newest first.'),
  cursor: note(nullable(str()), 'Value for `cursor` to get the next page; null on the last one.'),
});

const count = note(int(), 'Number of its entries among the newest 10,000 of the log.');
export const auditChoices = object('AuditChoices', {
  operations: note(
    list(
      object('AuditOperation', { operation: note(str(), 'Name of the operation; `operations` filters by it.'), count }),
    ),
    'At most 100, those with the most entries first.',
  ),
  actors: note(
    list(
      object('AuditActor', {
        id: note(str(), 'Identifier of an API key, which `actor` filters by, or `system:` and the name of a service.'),
        name: note(nullable(str()), 'Description of the API key; null for others.'),
        count,
      }),
    ),
    'At most 100, those with the most entries first.',
  ),
  resources: note(
    list(
      object('AuditResource', {
        id: note(str(), 'Identifier of the resource; `resource_id` filters by it.'),
        type: note(nullable(str()), 'Kind of resource, such as `deployment`; null where it is not known.'),
        count,
      }),
    ),
    'At most 100, those with the most entries first.',
  ),
});

/** RFC 7517. */
export const keySet = object('JsonWebKeySet', {
  keys: note(list(anyObject()), 'Public keys (Ed25519) as JSON Web Keys; `kid` is the `key_id` of a signature.'),
});
