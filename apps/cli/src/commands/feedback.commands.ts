import type { Group } from '../table/group';

const ONE = '/api/v1/feedback/{feedback_id}';
const CONFIGS = '/api/v1/feedback-configs';

export const feedback: Group = {
  name: 'feedback',
  about: 'scores and comments on runs and experiments',
  lines: {
    list: {
      route: 'GET /api/v1/feedback',
      example: '--session model-a --feedback-key correct',
      columns: ['id', 'key', 'score', 'value', 'comment', 'session_id', 'created_at'],
    },
    get: { route: `GET ${ONE}`, example: '0198c1f0-0000-7000-8000-000000000001' },
    create: {
      route: 'POST /api/v1/feedback',
      example: '--run-id 0198c1f0-0000-7000-8000-000000000001 --feedback-key correct --score 1',
    },
    patch: { route: `PATCH ${ONE}`, example: "0198c1f0-0000-7000-8000-000000000001 --score 0 --comment 'wrong unit'" },
    delete: { route: `DELETE ${ONE}`, example: '0198c1f0-0000-7000-8000-000000000001' },
    configs: {
      route: `GET ${CONFIGS}`,
      columns: ['feedback_key', 'feedback_config.type', 'is_lower_score_better', 'modified_at'],
    },
    configure: {
      route: `POST ${CONFIGS}`,
      example:
        '--feedback-key cost --is-lower-score-better true --feedback-config \'{"type": "continuous", "min": 0}\'',
    },
    reconfigure: { route: `PATCH ${CONFIGS}`, example: '--feedback-key cost --is-lower-score-better true' },
    unconfigure: { route: `DELETE ${CONFIGS}`, example: 'cost', args: ['feedback_key'] },
  },
};
