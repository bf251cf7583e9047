/** The part `info` of the document. */
export const INFO = {
  title: 'Fairlead',
  summary: 'Control plane for agent deployments, and a home for experiments that were run elsewhere',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  description: `
Send a key in \`x-api-key\`, or as \`Authorization: Bearer …\`. A key belongs to a workspace or opens several; then \`X-Tenant-Id\` names one.

### Paths and spellings

Every path is described once and served under further base paths:

| paths | served as well |
|---|---|
| \`/v1/…\`, \`/v2/…\` of the control plane | under \`/api-host\` |
| \`/api/v1/…\` of the platform | under \`/api\` and at the root: \`/api/v1/sessions\`, \`/api/sessions\`, \`/sessions\` |
| \`/v2/runs/…\`, \`/v2/datasets/…\` | under \`/api/v2\` |

Some names have a second spelling. Requests may use either everywhere; answers use the one described here, or the second one under \`/api-host\`, in paths with a segment \`github\`, and everywhere when the operator has set \`WIRE_DIALECT=langsmith\`.

| described here | second spelling |
|---|---|
| sources \`codehost\`, \`external_container\`, \`internal_container\` | \`github\`, \`external_docker\`, \`internal_docker\` |
| \`graph_config_path\` | \`langgraph_config_path\` |
| \`cluster_namespace\`, \`cluster_namespaces\` | \`k8s_namespace\`, \`k8s_namespaces\` |
| \`cache_…\` in a resource spec | \`redis_…\` |
| \`/v1/integrations/codehost/…\`, \`/v1/integrations/managed/codehost/…\` | \`/v1/integrations/github/…\`, \`/v1/integrations/forge/github/…\` |

### Requests

Members that are not described are ignored. \`null\` means absent. Times without an offset are in UTC. A repeated query parameter is a list; an empty one is none. \`traceparent\` is passed on.

### Errors

\`{"detail": …}\`: one sentence, or for 422 a list with the place of every problem. With \`Accept: application/problem+json\`, and always below \`/v2/runs\` and \`/v2/datasets\`, RFC 9457 instead. Every answer carries \`x-request-id\`, and where rates are limited \`RateLimit\` and \`RateLimit-Policy\`.
`.trim(),
} as const;
