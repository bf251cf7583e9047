import { type Infer, int, list, object, optional, type Schema, str } from '@fairlead/schema';
import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import type { CodeHost, Credentials, Head } from './code-host';
import { CodeHostFailed, CodeHostTooSlow, CommitNotFound, found, refusal, unexpected } from './code-host.errors';
import type { HostClient } from './host.client';
import { believe, commitId, MOST_PAGES, nextLink } from './json.host';
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
const commits = object({
  sha: str(),
  commit: optional(object({ message: optional(str()), author: optional(object({ name: optional(str()) })) })),
});
const comparison = object({
  status: str(),
  files: optional(list(object({ filename: str(), previous_filename: optional(str()) }))),
});
const named = object({ id: int(), full_name: str() });
/** GitHub lists no more files of a comparison, as in path filters of its own CI. */
const MOST_FILES = 300;
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
    const { sha } = await this.ask(`${repo(path)}/commits/{ref}`, { ref: ref.replace(/^refs\//, '') }, commits, signal);
    return commitId(sha, this.host);
  }

  async head(path: readonly string[], branch: string, signal: AbortSignal): Promise<Head> {
    const { sha, commit } = await this.ask(`${repo(path)}/commits/{ref}`, { ref: `heads/${branch}` }, commits, signal);
    return { commit: commitId(sha, this.host), author: commit?.author?.name, message: commit?.message };
  }

  hasTag(path: readonly string[], name: string, signal: AbortSignal): Promise<boolean> {
    return found(this.ask(`${repo(path)}/git/ref/tags/{name}`, { name }, object({ ref: str() }), signal));
  }

  async changedFiles(path: readonly string[], before: string, after: string, signal: AbortSignal) {
    const between = { basehead: `${before}...${after}` };
    const { status, files = [] } = await this.ask(`${repo(path)}/compare/{basehead}`, between, comparison, signal);
    // For a forced push, GitHub compares with the common ancestor and leaves out what the push took away.
    if (!['ahead', 'identical'].includes(status) || files.length >= MOST_FILES) return undefined;
    return files.flatMap(({ filename, previous_filename }) => [filename, previous_filename ?? filename]);
  }

  async repositoryId(path: readonly string[], signal: AbortSignal): Promise<string> {
    return String((await this.ask(repo(path), {}, named, signal)).id);
  }

  async repositoryPath(id: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.ask('/repositories/{id}', { id }, named, signal)).full_name.split('/');
  }

  async archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const token = await this.token();
    const url = `${this.api}/repos/${path.map(encodeURIComponent).join('/')}/tarball/${commit}`;
    return this.client.download(url, `token ${token}`, signal);
  }

  private async ask<T>(
    path: string,
    parameters: Record<string, string>,
    schema: Schema<T>,
    signal: AbortSignal,
  ): Promise<T> {
    try {
      const { data } = (await this.octokit.request(`GET ${path}`, { ...parameters, request: { signal } })) as {
        data: unknown;
      };
      return believe(schema, data, this.host);
    } catch (error) {
      const { status } = error as { status?: number };
      const failure = this.failure(error);
      const isMissing = MISSING.has(status ?? 0) && failure instanceof CodeHostFailed && !failure.passing;
      throw isMissing ? new CommitNotFound('not found') : failure;
    }
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

/** The names are of letters that need no escape. */
function repo(path: readonly string[]): string {
  return `/repos/${path.map(encodeURIComponent).join('/')}`;
}
