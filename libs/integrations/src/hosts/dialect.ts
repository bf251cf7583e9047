import { check, INVALID, object, Problems, type Schema, str } from '@fairlead/schema';
import type { Repository } from '../integration/record';
import { CommitNotFound } from './code-host.errors';

/** A GET below the address of the API, and what is read from its answer. */
export interface Question<T> {
  readonly at: string;
  /** Returns INVALID for an answer that the host does not document. */
  readonly read: (answer: unknown, headers: Headers) => T | typeof INVALID;
}

/** A request below the address of the API that changes something at the host. */
export interface Order<T> extends Question<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: object;
  /** It would do something twice when it is repeated. */
  readonly once?: boolean;
  /** Refusals that say that there is nothing to do. */
  readonly accepts?: readonly number[];
}

/** One page of a list, and the address of the next. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** The newest commit of a branch. Texts are as the host sends them. */
export interface Head {
  readonly commit: string;
  readonly author?: string;
  readonly message?: string;
}

/** Commits between two, the newest first, as far as the host lists them in one answer. */
interface Between {
  readonly commits: readonly Head[];
  readonly more: boolean;
}

export type Path = readonly string[];

/** The verdict on a commit. `skipped`: there will be none. */
export type CommitState = 'pending' | 'success' | 'failure' | 'skipped';

interface CommitStatus {
  readonly state: CommitState;
  /** Name that people see, the same for all verdicts of a deployment. */
  readonly context: string;
  /** Identifier for hosts whose names are short. */
  readonly key: string;
  readonly description: string;
  /** Address of the page that tells more; undefined where it is not known. */
  readonly url?: string;
  /** Address of the commit at the host. */
  readonly commitUrl: string;
  /** The branch that the revision follows; undefined where it follows none. */
  readonly branch?: string;
}

export interface PullComment {
  readonly id: string;
  /** Identifier of the user who wrote it; null when the host does not say. */
  readonly author: string | null;
  readonly body: string;
}

/** A list that is read page by page from an address on. */
export interface Listed<T> {
  readonly first: string;
  readonly page: PageAt<T>;
}

/** Requests that tell one kind of code host about commits and pull requests. A pull request is named by its number. */
export interface Reporting {
  readonly status: (path: Path, commit: string, status: CommitStatus) => Order<unknown>;
  /** Numbers of the open pull requests of a commit. */
  readonly pulls: (path: Path, commit: string) => Listed<number>;
  readonly comments: (path: Path, pull: number) => Listed<PullComment>;
  readonly comment: (path: Path, pull: number, body: string) => Order<PullComment>;
  readonly edit: (path: Path, pull: number, id: string, body: string) => Order<unknown>;
  readonly remove: (path: Path, pull: number, id: string) => Order<unknown>;
}

/**
 * The questions to one kind of code host. `path` is the owner of a repository (with groups, where the host has them) and
 * its name. Each question may be answered by CommitNotFound.
 */
export interface Dialect {
  /** The lists of every repository that the credentials can see; those without a default branch are left out. */
  readonly repositories: (lists: Lists) => Promise<readonly Repository[]>;
  /** Full id of the commit of a branch, tag or commit name. */
  readonly commit: (path: Path, ref: string) => Question<string>;
  /** The branch is named without `refs/heads/`. */
  readonly head: (path: Path, branch: string) => Question<Head>;
  readonly tag: (path: Path, name: string) => Question<unknown>;
  /** Files that differ between two commits; undefined when the host does not list all of them. */
  readonly changedFiles: (path: Path, before: string, after: string) => Question<readonly string[] | undefined>;
  /** Commits of `after` that `before` does not have. */
  readonly between: (path: Path, before: string, after: string) => Question<Between>;
  /** Path of the page that compares two commits, below the address of the host. */
  readonly comparison: (path: Path, before: string, after: string) => string;
  /** The host's own id of a repository, which a new name does not change. */
  readonly repositoryId: (path: Path) => Question<string>;
  /** The path that a repository has now, by the host's own id. */
  readonly repositoryPath: (id: string) => Question<Path>;
  /** Statuses of commits, and comments on pull requests. */
  readonly reporting: Reporting;
  /** Address of a gzip tarball of a commit, with one folder at its top: below that of the API, or a whole one. */
  readonly archive: (path: Path, commit: string) => string;
}

/** Returns the question for the page of a list at an address, which has a number from 1. */
export type PageAt<T> = (at: string, number: number) => Question<Page<T>>;
/** Returns all items of the list that begins at an address. */
type Lists = <T>(first: string, page: PageAt<T>) => Promise<T[]>;

/** Returns a question whose answer is checked against the form that the host documents. */
export function question<A, T>(at: string, schema: Schema<A>, read: (answer: A, headers: Headers) => T): Question<T> {
  return {
    at,
    read: (answer, headers) => {
      const problems = new Problems();
      const value = check(schema, answer, [], problems);
      return problems.total > 0 ? INVALID : read(value as A, headers);
    },
  };
}

/** A full commit id. */
export const commitId = str({ pattern: /^[0-9a-f]{40}([0-9a-f]{24})?$/ });
export const named = object({ name: str() });

/** Returns the newest commit of a list. @throws CommitNotFound */
export function newestOf(commits: readonly string[]): string {
  const [newest] = commits;
  if (newest === undefined) throw new CommitNotFound('no commits');
  return newest;
}

/** Returns the address of the next page from a `Link` header. */
export function nextLink(headers: Headers): string | undefined {
  const links = headers.get('link')?.split(/,\s*(?=<)/) ?? [];
  return links.map((link) => /^<([^>]+)>.*;\s*rel="?next"?/.exec(link)?.[1]).find((url) => url !== undefined);
}

/** Returns the short name of a branch or tag: `main` for `refs/heads/main`. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '');
}

/** Returns the path of a repository in an address. */
export function encoded(path: Path): string {
  return path.map(encodeURIComponent).join('/');
}
