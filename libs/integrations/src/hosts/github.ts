import { type Infer, int, list, object, optional, str } from '@fairlead/schema';
import type { Repository } from '../integration/record';
import { commitId, type Dialect, encoded, type Head, named, newestOf, nextLink, question, shortRef } from './dialect';
import { giteaReporting, gitHubReporting } from './reporting';

const repositories = list(
  object({
    id: int(),
    name: str(),
    owner: object({ login: str() }),
    html_url: str(),
    default_branch: optional(str()),
  }),
);
const installed = object({ repositories });
const author = optional(object({ name: optional(str()) }));
const commit = object({ sha: commitId, commit: optional(object({ message: optional(str()), author })) });
const gitHubChanges = object({
  status: str(),
  files: optional(list(object({ filename: str(), previous_filename: optional(str()) }))),
});
const branch = object({ commit: object({ id: commitId, message: optional(str()), author }) });
const giteaChanges = object({
  total_commits: int(),
  commits: list(
    object({
      sha: str(),
      parents: list(object({ sha: str() })),
      files: optional(list(object({ filename: str() }))),
    }),
  ),
});
const commits = list(object({ sha: commitId }));
const listed = object({ total_commits: int(), commits: list(commit) });
/** Comparisons; GitHub lists the oldest commit first, Gitea the newest. */
const between = (
  newestFirst: (commits: readonly Head[]) => readonly Head[],
): Pick<Dialect, 'between' | 'comparison'> => ({
  between: (path, before, after) =>
    question(`${repo(path)}/compare/${before}...${after}`, listed, ({ total_commits, commits }) => {
      const heads = commits.map(({ sha, commit }) => ({
        ...{ commit: sha, author: commit?.author?.name, message: commit?.message },
      }));
      return { commits: newestFirst(heads), more: total_commits > commits.length };
    }),
  comparison: (path, before, after) => `${encoded(path)}/compare/${before}...${after}`,
});
const repository = object({ id: int(), full_name: str() });
/** GitHub lists no more files of a comparison, as in path filters of its own CI. */
const MOST_FILES = 300;

const repo = (path: readonly string[]) => `/repos/${encoded(path)}`;
const byName: Pick<Dialect, 'repositoryId' | 'repositoryPath'> = {
  repositoryId: (path) => question(repo(path), repository, ({ id }) => String(id)),
  repositoryPath: (id) =>
    question(`/repositories/${encodeURIComponent(id)}`, repository, ({ full_name }) => full_name.split('/')),
};

/** GitHub and GitHub Enterprise: a personal, OAuth or fine-grained token, or the installation of an App. */
export function gitHub(isApp: boolean): Dialect {
  const address = isApp ? '/installation/repositories' : '/user/repos';
  const pageAt = (number: number) => `${address}?per_page=100&page=${number}`;
  return {
    ...byName,
    ...between((commits) => commits.toReversed()),
    repositories: (all) =>
      all(pageAt(1), (at, number) => {
        const page = (items: Infer<typeof repositories>, headers: Headers) => ({
          items: items.flatMap(toRepository),
          next: nextLink(headers) === undefined ? undefined : pageAt(number + 1),
        });
        if (!isApp) return question(at, repositories, page);
        return question(at, installed, (answer, headers) => page(answer.repositories, headers));
      }),
    commit: (path, ref) =>
      question(`${repo(path)}/commits/${encodeURIComponent(ref.replace(/^refs\//, ''))}`, commit, ({ sha }) => sha),
    head: (path, name) =>
      question(`${repo(path)}/commits/${encodeURIComponent(`heads/${name}`)}`, commit, ({ sha, commit }) => ({
        ...{ commit: sha, author: commit?.author?.name, message: commit?.message },
      })),
    tag: (path, name) =>
      question(`${repo(path)}/git/ref/tags/${encodeURIComponent(name)}`, object({ ref: str() }), () => undefined),
    changedFiles: (path, before, after) =>
      question(`${repo(path)}/compare/${before}...${after}`, gitHubChanges, ({ status, files = [] }) => {
        // For a forced push, GitHub compares with the common ancestor and leaves out what the push took away.
        if (!['ahead', 'identical'].includes(status) || files.length >= MOST_FILES) return undefined;
        return files.flatMap(({ filename, previous_filename }) => [filename, previous_filename ?? filename]);
      }),
    reporting: gitHubReporting,
    archive: (path, commit) => `${repo(path)}/tarball/${commit}`,
  };
}

/** Gitea and Forgejo: an access token with `read:repository` and `read:user`. */
export const gitea: Dialect = {
  ...byName,
  ...between((commits) => commits),
  repositories: (all) =>
    all('/user/repos?limit=50&page=1', (at) =>
      question(at, repositories, (items, headers) => ({ items: items.flatMap(toRepository), next: nextLink(headers) })),
    ),
  commit: (path, ref) => {
    const search = new URLSearchParams({ sha: shortRef(ref), limit: '1', stat: 'false', files: 'false' });
    return question(`${repo(path)}/commits?${search.toString()}`, commits, (found) =>
      newestOf(found.map(({ sha }) => sha)),
    );
  },
  head: (path, name) =>
    question(`${repo(path)}/branches/${encodeURIComponent(name)}`, branch, ({ commit }) => ({
      ...{ commit: commit.id, author: commit.author?.name, message: commit.message },
    })),
  tag: (path, name) => question(`${repo(path)}/tags/${encodeURIComponent(name)}`, named, () => undefined),
  changedFiles: (path, before, after) =>
    question(`${repo(path)}/compare/${before}...${after}`, giteaChanges, ({ total_commits, commits }) => {
      if (before === after) return [];
      // A list that does not begin at `before` is that of a forced push, and lacks what it took away.
      const isWhole =
        commits.length === total_commits && commits.some(({ parents }) => parents.some(({ sha }) => sha === before));
      if (!isWhole || commits.some(({ files }) => files === undefined)) return undefined;
      return commits.flatMap(({ files = [] }) => files.map(({ filename }) => filename));
    }),
  reporting: giteaReporting,
  archive: (path, commit) => `${repo(path)}/archive/${commit}.tar.gz`,
};

function toRepository({ id, name, owner, html_url: url, default_branch }: Infer<typeof repositories>[number]) {
  return default_branch ? [{ id, name, owner: owner.login, url, default_branch } satisfies Repository] : [];
}
