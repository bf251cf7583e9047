import type { Group } from '../table/group';

export const parked: Group = {
  name: 'parked',
  about: 'what consumers gave up on; takes the key of the operator',
  lines: {
    list: {
      route: 'GET /v1/parked-subjects',
      columns: ['id', 'subject', 'consumer', 'status', 'attempts', 'reason', 'failed_at'],
    },
    get: { route: 'GET /v1/parked-subjects/{parked_subject_id}', example: '0198c1f0-0000-7000-8000-000000000001' },
    retry: {
      route: 'POST /v1/parked-subjects/{parked_subject_id}/retry',
      example: '0198c1f0-0000-7000-8000-000000000001',
    },
  },
};

export const service: Group = {
  name: 'service',
  about: 'whether the service works, and what it is',
  lines: {
    live: { route: 'GET /health/live' },
    ready: { route: 'GET /health/ready', once: true },
    info: { route: 'GET /api/v1/info' },
    openapi: { route: 'GET /openapi.json', example: '-o openapi.json', saves: true },
  },
};
