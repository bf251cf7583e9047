import type { Group } from '../table/group';

const ONE = '/api/v1/feedback/{feedback_id}';
const CONFIGS = '/api/v1/feedback-configs';

export const feedback: Group = {
  name: 'feedback',
  about: 'scores and comments on runs and experiments',
  lines: {
    list: {
      route: 'GET /api/v1/feedback',
      columns: ['id', 'key', 'score', 'value', 'comment', 'session_id', 'created_at'],
    },
    get: { route: `GET ${ONE}` },
    create: { route: 'POST /api/v1/feedback' },
    patch: { route: `PATCH ${ONE}` },
    delete: { route: `DELETE ${ONE}` },
    configs: {
      route: `GET ${CONFIGS}`,
      columns: ['feedback_key', 'feedback_config.type', 'is_lower_score_better', 'modified_at'],
    },
    configure: { route: `POST ${CONFIGS}` },
    reconfigure: { route: `PATCH ${CONFIGS}` },
    unconfigure: { route: `DELETE ${CONFIGS}`, args: ['feedback_key'] },
  },
};
