import type { Group } from '../table/group';

const ONE = '/v1/webhooks/{webhook_id}';
const DELIVERY = `${ONE}/deliveries/{delivery_id}`;

export const webhooks: Group = {
  name: 'webhooks',
  alias: 'webhook',
  about: 'addresses that events are sent to, and what was sent',
  lines: {
    list: {
      route: 'GET /v1/webhooks',
      columns: ['url', 'enabled', 'event_types', 'failing_since', 'updated_at', 'id'],
    },
    get: { route: `GET ${ONE}`, example: 'ci-alerts' },
    create: {
      route: 'POST /v1/webhooks',
      example: '--webhook-url ci-alerts --event-types deployment.created,revision.status_changed',
    },
    patch: { route: `PATCH ${ONE}`, example: 'ci-alerts --enabled false' },
    delete: { route: `DELETE ${ONE}`, example: 'ci-alerts' },
    'rotate-secret': { route: `POST ${ONE}/rotate-secret`, example: 'ci-alerts' },
    test: { route: `POST ${ONE}/test`, example: 'ci-alerts' },
    deliveries: {
      route: `GET ${ONE}/deliveries`,
      example: 'ci-alerts --status failed',
      columns: ['id', 'event_type', 'status', 'attempt_count', 'last_status', 'created_at'],
    },
    delivery: {
      route: `GET ${DELIVERY}`,
      example: 'ci-alerts 0198c1f0-0000-7000-8000-000000000001',
    },
    redeliver: {
      route: `POST ${DELIVERY}/redeliver`,
      example: 'ci-alerts 0198c1f0-0000-7000-8000-000000000001',
    },
  },
};
