/** The programs of deployments, where an executor runs them itself. Deployments without one are passed over. */
export interface Programs {
  /** Starts what was stopped. @throws StepFailed when it does not become ready */
  start(deploymentId: string): Promise<void>;
  /** Ends it until it is started or a revision is deployed, also after a restart of the server. Requests are refused. */
  stop(deploymentId: string): Promise<void>;
  /** Ends it and starts it again; requests wait. @throws StepFailed when it does not become ready */
  restart(deploymentId: string): Promise<void>;
}
