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
    get: { route: `GET ${ONE}`, example: 'https://hooks.example.com/fairlead' },
    create: {
      route: 'POST /v1/webhooks',
      example:
        '--webhook-url https://hooks.example.com/fairlead --event-types deployment.created,revision.status_changed',
    },
    patch: { route: `PATCH ${ONE}`, example: 'https://hooks.example.com/fairlead --enabled false' },
    delete: { route: `DELETE ${ONE}`, example: 'https://hooks.example.com/fairlead' },
    'rotate-secret': { route: `POST ${ONE}/rotate-secret`, example: 'https://hooks.example.com/fairlead' },
    test: { route: `POST ${ONE}/test`, example: 'https://hooks.example.com/fairlead' },
    deliveries: {
      route: `GET ${ONE}/deliveries`,
      example: 'https://hooks.example.com/fairlead --status failed',
      columns: ['id', 'event_type', 'status', 'attempt_count', 'last_status', 'created_at'],
    },
    delivery: {
      route: `GET ${DELIVERY}`,
      example: 'https://hooks.example.com/fairlead 0198c1f0-0000-7000-8000-000000000001',
    },
    redeliver: {
      route: `POST ${DELIVERY}/redeliver`,
      example: 'https://hooks.example.com/fairlead 0198c1f0-0000-7000-8000-000000000001',
    },
  },
};
