import type { Repository } from '../record';

/** What the service asks of a code host, with the credentials of one integration. */
export interface CodeHost {
  /** Every repository that the credentials can see and that has a default branch, all pages of it. */
  repositories(signal: AbortSignal): Promise<Repository[]>;
  /**
   * The full id of the commit that a branch, tag or commit name stands for.
   * @param path the repository's owner (with groups, where the host has them) and name.
   * @throws CommitNotFound
   */
  commit(path: readonly string[], ref: string, signal: AbortSignal): Promise<string>;
}

/** Credentials as the host gave them out. */
export type Credentials =
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'app';
      readonly app_id: number;
      readonly installation_id: number;
      readonly private_key: string;
    };
