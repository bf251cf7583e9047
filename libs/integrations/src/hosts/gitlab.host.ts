import { bool, int, list, object, optional, str } from '@fairlead/schema';
import type { CodeHost, Head } from './code-host';
import { found } from './code-host.errors';
import { commitId, type JsonHost, nextLink } from './json.host';
import { shortRef } from '../provider';
import type { Repository } from '../record';

const projects = list(
  object({
    id: int(),
    path: str(),
    namespace: object({ full_path: str() }),
    web_url: str(),
    default_branch: optional(str()),
  }),
);
const branches = object({ commit: object({ id: str(), author_name: optional(str()), message: optional(str()) }) });
const comparison = object({
  diffs: list(object({ old_path: str(), new_path: str() })),
  compare_timeout: optional(bool()),
});
const project = object({ id: int(), path_with_namespace: str() });
/** GitLab lists no more files than an administrator has set, 1,000 by default. */
const MOST_DIFFS = 1000;
const FIRST = '/projects?membership=true&simple=true&pagination=keyset&order_by=id&sort=asc&per_page=100';

/** GitLab, its own and self-managed: a personal, group, project or OAuth token with `read_api`. */
export class GitLabHost implements CodeHost {
  constructor(
    private readonly api: JsonHost,
    private readonly host: string,
  ) {}

  repositories(signal: AbortSignal): Promise<Repository[]> {
    return this.api.all(
      FIRST,
      projects,
      (page, headers) => ({
        items: page.flatMap(({ id, path, namespace, web_url, default_branch }) =>
          default_branch ? [{ id, name: path, owner: namespace.full_path, url: web_url, default_branch }] : [],
        ),
        next: nextLink(headers),
      }),
      signal,
    );
  }

  async commit(path: readonly string[], ref: string, signal: AbortSignal): Promise<string> {
    const project = encodeURIComponent(path.join('/'));
    const commit = `/projects/${project}/repository/commits/${encodeURIComponent(shortRef(ref))}`;
    const { value } = await this.api.get(commit, object({ id: str() }), signal);
    return commitId(value.id, this.host);
  }

  async head(path: readonly string[], branch: string, signal: AbortSignal): Promise<Head> {
    const at = `${projectOf(path)}/repository/branches/${encodeURIComponent(branch)}`;
    const { commit } = (await this.api.get(at, branches, signal)).value;
    return { commit: commitId(commit.id, this.host), author: commit.author_name, message: commit.message };
  }

  hasTag(path: readonly string[], name: string, signal: AbortSignal): Promise<boolean> {
    return found(
      this.api.get(`${projectOf(path)}/repository/tags/${encodeURIComponent(name)}`, object({ name: str() }), signal),
    );
  }

  async changedFiles(path: readonly string[], before: string, after: string, signal: AbortSignal) {
    const search = new URLSearchParams({ from: before, to: after, straight: 'true' });
    const { value } = await this.api.get(
      `${projectOf(path)}/repository/compare?${search.toString()}`,
      comparison,
      signal,
    );
    if (value.compare_timeout || value.diffs.length >= MOST_DIFFS) return undefined;
    return value.diffs.flatMap(({ old_path, new_path }) => [old_path, new_path]);
  }

  async repositoryId(path: readonly string[], signal: AbortSignal): Promise<string> {
    return String((await this.api.get(projectOf(path), project, signal)).value.id);
  }

  async repositoryPath(id: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.api.get(projectOf([id]), project, signal)).value.path_with_namespace.split('/');
  }

  archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const project = encodeURIComponent(path.join('/'));
    return this.api.download(`/projects/${project}/repository/archive.tar.gz?sha=${commit}`, signal);
  }
}

function projectOf(path: readonly string[]): string {
  return `/projects/${encodeURIComponent(path.join('/'))}`;
}
