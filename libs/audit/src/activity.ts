import type { Entry } from './audit.queries';
import { activityOf } from './operation';

/** An entry as an event of OCSF's class API Activity (6003), in the members that clients of the platform read. */
export function apiActivity(entry: Entry, actorName: string | null, tenantId: string, organizationId: string) {
  const operation = entry.operation ?? 'refused_request';
  const activity = activityOf(operation);
  const refused = entry.status !== null;
  const [method = '', path = ''] = (entry.request ?? '').split(' ', 2);
  const resources = entry.resource_id === null ? [] : [{ uid: entry.resource_id, type: entry.resource }];
  return {
    class_uid: 6003,
    class_name: 'API Activity',
    category_uid: 6,
    category_name: 'Application Activity',
    severity_id: 99,
    type_uid: 600300 + activity.id,
    activity_id: activity.id,
    activity_name: activity.name,
    status_id: refused ? 2 : 1,
    status: refused ? ('Failure' as const) : ('Success' as const),
    time: entry.time.getTime(),
    count: entry.count,
    metadata: { uid: entry.id, product: { name: 'Fairlead', vendor_name: 'Fairlead' } },
    api: { operation },
    http_request: { uid: entry.request_id, http_method: method, url: { path } },
    http_response: { code: entry.status },
    actor: { user: { uid: null, name: actorName, credential_uid: entry.actor } },
    src_endpoint: { ip: entry.address, port: null, intermediate_ips: null },
    resources,
    unmapped: {
      original_audit_log: {
        id: entry.id,
        operation_name: operation,
        operation_succeeded: !refused,
        request_time: entry.time.toISOString(),
        api_key_id: entry.actor,
        user_id: null,
        ls_user_id: null,
        organization_id: organizationId,
        workspace_id: tenantId,
        enrichments: {
          request_method: method,
          request_path: path,
          request_id: entry.request_id,
          reason: entry.reason,
          client_host: entry.address,
          response_status_code: entry.status,
          resource_ids: resources.map(({ uid }) => uid),
        },
      },
    },
  };
}
