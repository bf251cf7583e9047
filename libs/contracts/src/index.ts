/**
 * What services tell each other. A message is an event's data; its type is the event's type, its tenant and its
 * stream come with the delivery. Members may be added, never changed or removed.
 */

/** `DeploymentCreated`: from now on there is a deployment of this name. */
export interface DeploymentCreatedMessage {
  readonly deployment_id: string;
  readonly tenant_id: string;
  readonly name: string;
}

/** `DeploymentDeletionRequested`: the deployment is going away, and its tracing project with it when that was asked for. */
export interface DeploymentDeletionRequestedMessage {
  readonly name: string;
  readonly delete_tracing_project: boolean;
}
