import { int, list, object, optional, str } from '@fairlead/schema';
import type { CodeHost, Head } from './code-host';
import { CommitNotFound, found } from './code-host.errors';
import { commitId, type JsonHost, nextLink } from './json.host';
import { shortRef } from '../provider';
import type { Repository } from '../record';

const repositories = list(
  object({
    id: int(),
    name: str(),
    owner: object({ login: str() }),
    html_url: str(),
    default_branch: optional(str()),
  }),
);
const commits = list(object({ sha: str() }));

const branch = object({
  commit: object({ id: str(), message: optional(str()), author: optional(object({ name: optional(str()) })) }),
});
const comparison = object({
  total_commits: int(),
  commits: list(
    object({
      sha: str(),
      parents: list(object({ sha: str() })),
      files: optional(list(object({ filename: str() }))),
    }),
  ),
});
const named = object({ id: int(), full_name: str() });

/** Gitea and Forgejo: an access token with `read:repository` and `read:user`. */
export class GiteaHost implements CodeHost {
  constructor(
    private readonly api: JsonHost,
    private readonly host: string,
  ) {}

  repositories(signal: AbortSignal): Promise<Repository[]> {
    return this.api.all(
      '/user/repos?limit=50&page=1',
      repositories,
      (page, headers) => ({
        items: page.flatMap(({ id, name, owner, html_url: url, default_branch }) =>
          default_branch ? [{ id, name, owner: owner.login, url, default_branch }] : [],
        ),
        next: nextLink(headers),
      }),
      signal,
    );
  }

  async commit(path: readonly string[], ref: string, signal: AbortSignal): Promise<string> {
    const repository = path.map(encodeURIComponent).join('/');
    const search = new URLSearchParams({ sha: shortRef(ref), limit: '1', stat: 'false', files: 'false' });
    const { value } = await this.api.get(`/repos/${repository}/commits?${search.toString()}`, commits, signal);
    const [newest] = value;
    if (!newest) throw new CommitNotFound('no commits');
    return commitId(newest.sha, this.host);
  }

  async head(path: readonly string[], name: string, signal: AbortSignal): Promise<Head> {
    const { commit } = (await this.api.get(`${repo(path)}/branches/${encodeURIComponent(name)}`, branch, signal)).value;
    return { commit: commitId(commit.id, this.host), author: commit.author?.name, message: commit.message };
  }

  hasTag(path: readonly string[], name: string, signal: AbortSignal): Promise<boolean> {
    return found(this.api.get(`${repo(path)}/tags/${encodeURIComponent(name)}`, object({ name: str() }), signal));
  }

  async changedFiles(path: readonly string[], before: string, after: string, signal: AbortSignal) {
    if (before === after) return [];
    const { total_commits, commits } = (
      await this.api.get(`${repo(path)}/compare/${before}...${after}`, comparison, signal)
    ).value;
    // A list that does not begin at `before` is that of a forced push, and lacks what it took away.
    const isWhole =
      commits.length === total_commits && commits.some(({ parents }) => parents.some(({ sha }) => sha === before));
    if (!isWhole || commits.some(({ files }) => files === undefined)) return undefined;
    return commits.flatMap(({ files = [] }) => files.map(({ filename }) => filename));
  }

  async repositoryId(path: readonly string[], signal: AbortSignal): Promise<string> {
    return String((await this.api.get(repo(path), named, signal)).value.id);
  }

  async repositoryPath(id: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.api.get(`/repositories/${encodeURIComponent(id)}`, named, signal)).value.full_name.split('/');
  }

  archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.api.download(`/repos/${path.map(encodeURIComponent).join('/')}/archive/${commit}.tar.gz`, signal);
  }
}

function repo(path: readonly string[]): string {
  return `/repos/${path.map(encodeURIComponent).join('/')}`;
}
