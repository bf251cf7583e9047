import { bool, int, list, object, optional, str } from '@fairlead/schema';
import { commitId, type Dialect, encoded, named, nextLink, question, shortRef } from './dialect';
import { gitLabReporting } from './reporting';

const projects = list(
  object({
    id: int(),
    path: str(),
    namespace: object({ full_path: str() }),
    web_url: str(),
    default_branch: optional(str()),
  }),
);
const branch = object({ commit: object({ id: commitId, author_name: optional(str()), message: optional(str()) }) });
const comparison = object({
  diffs: list(object({ old_path: str(), new_path: str() })),
  compare_timeout: optional(bool()),
});
const listed = object({
  commits: list(object({ id: commitId, author_name: optional(str()), title: optional(str()) })),
  compare_timeout: optional(bool()),
});
const project = object({ id: int(), path_with_namespace: str() });
/** GitLab lists no more files than an administrator has set, 1,000 by default. */
const MOST_DIFFS = 1000;
const FIRST = '/projects?membership=true&simple=true&pagination=keyset&order_by=id&sort=asc&per_page=100';

const projectOf = (path: readonly string[]) => `/projects/${encodeURIComponent(path.join('/'))}`;
const inside = (path: readonly string[], kind: string, name: string) =>
  `${projectOf(path)}/repository/${kind}/${encodeURIComponent(name)}`;

/** GitLab, its own and self-managed: a personal, group, project or OAuth token with `read_api`. */
export const gitLab: Dialect = {
  repositories: (all) =>
    all(FIRST, (at) =>
      question(at, projects, (page, headers) => ({
        items: page.flatMap(({ id, path, namespace, web_url, default_branch }) =>
          default_branch ? [{ id, name: path, owner: namespace.full_path, url: web_url, default_branch }] : [],
        ),
        next: nextLink(headers),
      })),
    ),
  commit: (path, ref) => question(inside(path, 'commits', shortRef(ref)), object({ id: commitId }), ({ id }) => id),
  head: (path, name) =>
    question(inside(path, 'branches', name), branch, ({ commit }) => ({
      ...{ commit: commit.id, author: commit.author_name, message: commit.message },
    })),
  tag: (path, name) => question(inside(path, 'tags', name), named, () => undefined),
  changedFiles: (path, before, after) => {
    const search = new URLSearchParams({ from: before, to: after, straight: 'true' });
    const at = `${projectOf(path)}/repository/compare?${search.toString()}`;
    return question(at, comparison, ({ compare_timeout, diffs }) =>
      compare_timeout || diffs.length >= MOST_DIFFS
        ? undefined
        : diffs.flatMap(({ old_path, new_path }) => [old_path, new_path]),
    );
  },
  between: (path, before, after) => {
    const search = new URLSearchParams({ from: before, to: after });
    return question(
      `${projectOf(path)}/repository/compare?${search.toString()}`,
      listed,
      ({ commits, compare_timeout: more = false }) => ({
        commits: commits
          .map(({ id, author_name, title }) => ({ commit: id, author: author_name, message: title }))
          .reverse(),
        more,
      }),
    );
  },
  comparison: (path, before, after) => `${encoded(path)}/-/compare/${before}...${after}`,
  repositoryId: (path) => question(projectOf(path), project, ({ id }) => String(id)),
  repositoryPath: (id) =>
    question(projectOf([id]), project, ({ path_with_namespace }) => path_with_namespace.split('/')),
  reporting: gitLabReporting,
  archive: (path, commit) => `${projectOf(path)}/repository/archive.tar.gz?sha=${commit}`,
};
