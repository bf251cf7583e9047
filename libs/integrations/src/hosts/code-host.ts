import type { Repository } from '../record';

/** A code host, with the credentials of one integration. */
export interface CodeHost {
  /** Returns every repository that the credentials can see and that has a default branch, from all pages. */
  repositories(signal: AbortSignal): Promise<Repository[]>;
  /**
   * Returns the full id of the commit of a branch, tag or commit name.
   * @param path the owner of the repository (with groups, where the host has them) and its name.
   * @throws CommitNotFound
   */
  commit(path: readonly string[], ref: string, signal: AbortSignal): Promise<string>;
  /** Returns a gzip tarball of a commit, with one folder at its top, as it comes. @throws CommitNotFound */
  archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
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
