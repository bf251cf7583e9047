import { type Infer, int, list, object, optional, str } from '@fairlead/schema';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import type { CodeHost, Credentials } from './code-host';
import { CodeHostFailed, CodeHostTooSlow, CommitNotFound } from './code-host.errors';
import type { HostClient } from './host.client';
import { believe, commitId, MOST_PAGES, nextLink, refusal, unexpected } from './json.host';
import type { Repository } from '../record';

const PER_PAGE = 100;
const MISSING = new Set([404, 409, 422]);
const OF_USER: string = 'GET /user/repos';
const OF_INSTALLATION: string = 'GET /installation/repositories';
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

/** GitHub and GitHub Enterprise: a personal, OAuth or fine-grained token, or the installation of an App. */
export class GitHubHost implements CodeHost {
  private readonly octokit: Octokit;

  constructor(
    private readonly client: HostClient,
    private readonly api: string,
    private readonly credentials: Credentials,
    private readonly host: string,
  ) {
    const settings = { baseUrl: api, request: { fetch: client.fetch }, log: SILENT };
    this.octokit =
      credentials.kind === 'token'
        ? new Octokit({ ...settings, auth: credentials.token })
        : new Octokit({ ...settings, authStrategy: createAppAuth, auth: appAuth(credentials) });
  }

  async repositories(signal: AbortSignal): Promise<Repository[]> {
    const isApp = this.credentials.kind === 'app';
    const found: Repository[] = [];
    // Octokit's own paging would drop the signal after the first page.
    for (let page = 1, more = true; more; page++) {
      if (page > MOST_PAGES) throw unexpected(this.host);
      const parameters = { per_page: PER_PAGE, page, request: { signal } };
      try {
        const answer = await this.octokit.request(isApp ? OF_INSTALLATION : OF_USER, parameters);
        const data: unknown = answer.data;
        const items = isApp ? believe(installed, data, this.host).repositories : believe(repositories, data, this.host);
        found.push(...items.flatMap(toRepository));
        more = nextLink(new Headers({ link: answer.headers.link ?? '' })) !== undefined;
      } catch (error) {
        throw this.failure(error);
      }
    }
    return found;
  }

  async commit(path: readonly string[], ref: string, signal: AbortSignal): Promise<string> {
    const [owner = '', repo = ''] = path;
    try {
      const { data } = await this.octokit.request('GET /repos/{owner}/{repo}/commits/{ref}', {
        owner,
        repo,
        ref: ref.replace(/^refs\//, ''),
        request: { signal },
      });
      return commitId(believe(object({ sha: str() }), data, this.host).sha, this.host);
    } catch (error) {
      const { status } = error as { status?: number };
      const failure = this.failure(error);
      if (failure instanceof CodeHostFailed && MISSING.has(status ?? 0)) throw new CommitNotFound('not found');
      throw failure;
    }
  }

  async archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const token = await this.token();
    const url = `${this.api}/repos/${path.map(encodeURIComponent).join('/')}/tarball/${commit}`;
    return this.client.download(url, `token ${token}`, signal);
  }

  /** Returns the token of the credentials, which an App gets for its installation. */
  private async token(): Promise<string> {
    try {
      const { token } = (await this.octokit.auth({ type: 'installation' })) as { token: string };
      return token;
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** Returns the error of the client, which Octokit wraps, or the refusal of GitHub. */
  private failure(error: unknown): unknown {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof CodeHostFailed || cause instanceof CodeHostTooSlow) return cause;
    }
    const { status, name } = error as { status?: number; name?: string };
    if (name === 'AbortError' || name === 'TimeoutError') return new CodeHostTooSlow(`${this.host} took too long.`);
    return refusal(this.host, status ?? 0);
  }
}

function toRepository({
  id,
  name,
  owner,
  html_url: url,
  default_branch,
}: Infer<typeof repositories>[number]): Repository[] {
  return default_branch ? [{ id, name, owner: owner.login, url, default_branch }] : [];
}

function appAuth({ app_id: appId, installation_id: installationId, private_key: privateKey }: AppCredentials) {
  return { appId, installationId, privateKey };
}

type AppCredentials = Credentials & { kind: 'app' };
const quiet = () => undefined;
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };
