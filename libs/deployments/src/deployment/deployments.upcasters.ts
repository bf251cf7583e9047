import type { Upcasters } from '@fairlead/eventing';

/** Older shapes of this library's events, by event type. Every event is still in its first shape. */
export const deploymentUpcasters: Upcasters = {};
