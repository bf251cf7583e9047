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
    get: { route: `GET ${ONE}` },
    create: { route: 'POST /v1/webhooks' },
    patch: { route: `PATCH ${ONE}` },
    delete: { route: `DELETE ${ONE}` },
    'rotate-secret': { route: `POST ${ONE}/rotate-secret` },
    test: { route: `POST ${ONE}/test` },
    deliveries: {
      route: `GET ${ONE}/deliveries`,
      columns: ['id', 'event_type', 'status', 'attempt_count', 'last_status', 'created_at'],
    },
    delivery: { route: `GET ${DELIVERY}` },
    redeliver: { route: `POST ${DELIVERY}/redeliver` },
  },
};
