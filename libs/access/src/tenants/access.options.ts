/** Settings of an installation about its workspaces. */
export class AccessOptions {
  /**
   * `oneWorkspace`: why there can be no second workspace, a sentence without its full stop; absent: there can be.
   * `https`: clients reach the service over https.
   */
  constructor(
    readonly oneWorkspace?: string,
    readonly https = false,
  ) {}
}
