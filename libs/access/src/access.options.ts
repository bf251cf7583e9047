/** What an installation decides about its workspaces. */
export class AccessOptions {
  /** `oneWorkspace`: why there can be no second workspace, a sentence without its full stop; absent: there can be. */
  constructor(readonly oneWorkspace?: string) {}
}
