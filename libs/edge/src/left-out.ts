import { HttpProblem } from '@fairlead/schema';

const V1 = '/api/v1';

/**
 * Families of requests of LangSmith's SDKs that Fairlead does not offer, with patterns for the beginnings of their
 * canonical addresses. The first match counts.
 */
export const FAMILIES: readonly (readonly [name: string, ...paths: string[]])[] = [
  ['annotation queues', `${V1}/(platform/)?annotation-queues`],
  ['prompts and the hub', `${V1}/(repos|commits|likes|prompts|prompt-webhooks|settings)`, `${V1}/platform/hub`],
  ['the registry of agents', `${V1}/agents`],
  ['insights', `${V1}/sessions/[^/]+/insights`],
  ['charts and dashboards', `${V1}/charts`, `${V1}/sessions/[^/]+/dashboard`],
  ['groups of runs', `${V1}/runs/group`],
  ['automation rules', `(${V1}|/v2)/runs/rules`],
  ['online evaluators', `${V1}/platform/evaluators`],
  ['alerts', `${V1}/platform/alerts`],
  ['issues', `${V1}/platform/issues`],
  ['feedback about the product', `${V1}/platform/product-feedbacks`],
  ['addresses for feedback without a key', `${V1}/feedback/tokens`],
  ['formulas of feedback', `${V1}/feedback-formulas`],
  ['secrets of a workspace', `${V1}/workspaces/current/secrets`],
  ['tags of resources', `${V1}/workspaces/current/(tag-keys|tags|taggings)`],
  ['bulk exports', `${V1}/bulk-exports`],
  ['settings of the playground', `${V1}/playground-settings`],
  ['settings of retention', `${V1}/ttl-settings`],
  ['traces of OpenTelemetry', `${V1}/otel`],
  ['uploads of examples of many datasets', `${V1}/platform/examples/multipart`],
  [
    'the deletion of single examples at the address of their dataset',
    `${V1}/platform/datasets/[^/]+/examples/(?!metadata$)[^/]+`,
  ],
  ['the resolution of addresses to projects', `${V1}/sessions/resolutions`],
  ['sandboxes', '/v2/sandboxes'],
  ['the second version of threads', '/v2/threads'],
  ['queries of traces', '/v2/traces'],
  ['the second version of sessions', '/v2/sessions'],
  ['the second version of datasets', '/v2/datasets/?$'],
  ['search with AI', '/v2/ai-search'],
  ['queries in SQL', '/v2/sql'],
  ['fleet', '/v1/fleet'],
];

const PATTERNS = FAMILIES.map(([name, ...paths]) => [name, new RegExp(`^(${paths.join('|')})(/|$)`)] as const);
const ANY = new RegExp(`^(${FAMILIES.flatMap(([, ...paths]) => paths).join('|')})(/|$)`);

/**
 * Returns the answer to a request of a family that is not offered; undefined for other requests. Clients do not repeat
 * it. `url` is the canonical address of the request.
 */
export function leftOut(url: string): HttpProblem | undefined {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  if (!ANY.test(path)) return undefined;
  const [name] = PATTERNS.find(([, pattern]) => pattern.test(path))!;
  return new HttpProblem(501, `Fairlead does not offer ${name}.`, { headers: { 'x-should-retry': 'false' } });
}
