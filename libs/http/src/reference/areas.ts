/** What the API is divided into, in the order of the reference. */
export const AREAS = {
  Deployments: 'Create, change, roll back and audit deployments.',
  Revisions: 'What runs is a revision: list, wait, compare, redeploy, interrupt.',
  Sources: 'Uploads of source archives and pushes of images.',
  Logs: 'What builds and deployments print.',
  Listeners: 'Clusters that run deployments.',
  Integrations: 'Code hosts, their repositories and their webhooks.',
  'OAuth providers': 'Providers that people sign in to, so that agents get tokens.',
  'OAuth tokens': 'Signing in, tokens, and the agents that use them.',
  Experiments: 'Upload experiments that were run elsewhere; sessions with their statistics.',
  Datasets: 'Datasets and the versions of their examples.',
  Runs: 'Runs of experiments and projects: queries, and taking them in while they happen.',
  Feedback: 'Scores and comments on runs and experiments.',
  Comparisons: 'Differences between experiments on the same rows, gates, exports.',
  Audit: 'Who did what, and who was refused.',
  'Keys and workspaces': 'API keys and the workspaces that they open.',
  Service: 'What the service says of itself; no key needed.',
} as const;
