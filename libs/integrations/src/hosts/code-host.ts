import type { Repository } from '../record';

/** The newest commit of a branch. Texts are as the host sends them. */
export interface Head {
  readonly commit: string;
  readonly author?: string;
  readonly message?: string;
}

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
  /** Returns the newest commit of a branch, which is named without `refs/heads/`. @throws CommitNotFound */
  head(path: readonly string[], branch: string, signal: AbortSignal): Promise<Head>;
  /** Returns whether there is a tag of a name. */
  hasTag(path: readonly string[], name: string, signal: AbortSignal): Promise<boolean>;
  /**
   * Returns the files that differ between two commits; undefined when the host does not list all of them.
   * @throws CommitNotFound
   */
  changedFiles(
    path: readonly string[],
    before: string,
    after: string,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined>;
  /** Returns the host's own id of a repository, which a new name does not change. @throws CommitNotFound */
  repositoryId(path: readonly string[], signal: AbortSignal): Promise<string>;
  /** Returns the path that a repository has now, by the host's own id. @throws CommitNotFound when it is gone */
  repositoryPath(id: string, signal: AbortSignal): Promise<readonly string[]>;
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
