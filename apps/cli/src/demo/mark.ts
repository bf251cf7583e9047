/** Everything that the demo makes carries this in its metadata, and only what carries it is removed. */
export const MARK = { made_by: 'fairlead demo' } as const;
export const DATASET = 'demo: support questions';
/** The deployment, and the tracing project of its conversations. */
export const DEPLOYMENT = 'demo-support-agent';
/** Deployments have no metadata: the mark of the demo's is the agent that it was made for. */
export const AGENT = { agent_id: 'fairlead-demo', environment: 'demo' } as const;
