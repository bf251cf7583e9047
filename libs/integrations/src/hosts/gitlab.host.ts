import { int, list, object, optional, str } from '@fairlead/schema';
import type { CodeHost } from './code-host';
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

  archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const project = encodeURIComponent(path.join('/'));
    return this.api.download(`/projects/${project}/repository/archive.tar.gz?sha=${commit}`, signal);
  }
}
