import { createHash } from 'node:crypto';
import { list, object, optional, str } from '@fairlead/schema';
import type { Repository } from '../integration/record';
import { commitId, type Dialect, encoded, named, newestOf, question, shortRef } from './dialect';
import { bitbucketReporting } from './reporting';

const next = optional(str());
const workspaces = object({ values: list(object({ workspace: object({ slug: str() }) })), next });
const repositories = object({
  values: list(
    object({
      uuid: str(),
      slug: str(),
      full_name: str(),
      links: object({ html: object({ href: str() }) }),
      mainbranch: optional(object({ name: str() })),
    }),
  ),
  next,
});
const commits = object({ values: list(object({ hash: commitId })) });
const branch = object({
  target: object({ hash: commitId, message: optional(str()), author: optional(object({ raw: optional(str()) })) }),
});
const author = optional(object({ raw: optional(str()) }));
const listed = object({ values: list(object({ hash: commitId, message: optional(str()), author })), next });
const path = optional(object({ path: str() }));
const diffstat = object({ values: list(object({ old: path, new: path })), next });
const repository = object({ uuid: str(), full_name: str() });
const MOST_FILES = 500;

const repo = (path: readonly string[]) => `/repositories/${encoded(path)}`;

/**
 * Bitbucket Cloud: an access token, or `e-mail:API token`. A workspace in base_url limits it to that workspace. `web` is
 * the address of its pages: the API gives out no archives.
 */
export function bitbucket(workspace: string | undefined, web: string): Dialect {
  return {
    repositories: async (all) => {
      const ofUser = '/user/workspaces?pagelen=100';
      const slugs =
        workspace === undefined
          ? await all(ofUser, (at) =>
              question(at, workspaces, ({ values, next }) => ({
                items: values.map((one) => one.workspace.slug),
                next,
              })),
            )
          : [workspace];
      const found: Repository[] = [];
      for (const slug of slugs) {
        const first = `/repositories/${encodeURIComponent(slug)}?role=member&pagelen=100`;
        const page = (at: string) =>
          question(at, repositories, ({ values, next }) => ({
            items: values.flatMap(({ uuid, slug: name, full_name, links, mainbranch }) => {
              if (!mainbranch) return [];
              const owner = full_name.split('/')[0] ?? slug;
              return [{ id: numberOf(uuid), name, owner, url: links.html.href, default_branch: mainbranch.name }];
            }),
            next,
          }));
        found.push(...(await all(first, page)));
      }
      return found;
    },
    commit: (path, ref) => {
      const search = new URLSearchParams({ include: shortRef(ref), pagelen: '1' });
      return question(`${repo(path)}/commits?${search.toString()}`, commits, ({ values }) =>
        newestOf(values.map(({ hash }) => hash)),
      );
    },
    head: (path, name) =>
      question(`${repo(path)}/refs/branches/${encodeURIComponent(name)}`, branch, ({ target }) => ({
        ...{ commit: target.hash, author: target.author?.raw, message: target.message },
      })),
    tag: (path, name) => question(`${repo(path)}/refs/tags/${encodeURIComponent(name)}`, named, () => undefined),
    changedFiles: (path, before, after) => {
      // Bitbucket names the newer commit first; without `topic=false`, it compares with the common ancestor.
      const at = `${repo(path)}/diffstat/${after}..${before}?topic=false&pagelen=${MOST_FILES}`;
      return question(at, diffstat, ({ values, next }) =>
        next === undefined
          ? values.flatMap((file) => [file.old?.path, file.new?.path].filter((name) => name !== undefined))
          : undefined,
      );
    },
    between: (path, before, after) =>
      question(`${repo(path)}/commits/${after}?exclude=${before}&pagelen=100`, listed, ({ values, next }) => ({
        commits: values.map(({ hash, message, author }) => ({ commit: hash, author: author?.raw, message })),
        more: next !== undefined,
      })),
    comparison: (path, before, after) => `${encoded(path)}/branches/compare/${after}%0D${before}`,
    repositoryId: (path) => question(repo(path), repository, ({ uuid }) => uuid),
    // The API takes empty braces for the workspace where the repository is named by its UUID.
    repositoryPath: (id) =>
      question(repo([workspace ?? '{}', id]), repository, ({ full_name }) => full_name.split('/')),
    reporting: bitbucketReporting,
    archive: (path, commit) => `${web}/${encoded(path)}/get/${commit}.tar.gz`,
  };
}

/** Returns the integer id of a repository: 48 bits of a hash of its UUID, always the same for the same repository. */
function numberOf(uuid: string): number {
  return createHash('sha256').update(uuid).digest().readUIntBE(0, 6);
}
