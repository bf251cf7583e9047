import { int, list, object, optional, str } from '@fairlead/schema';
import type { CodeHost } from './code-host';
import { CommitNotFound } from './code-host.errors';
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

  archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.api.download(`/repos/${path.map(encodeURIComponent).join('/')}/archive/${commit}.tar.gz`, signal);
  }
}
