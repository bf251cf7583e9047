import { createHash } from 'node:crypto';
import { list, object, optional, str } from '@fairlead/schema';
import type { CodeHost, Head } from './code-host';
import { CommitNotFound, found } from './code-host.errors';
import { commitId, type JsonHost } from './json.host';
import { shortRef } from '../provider';
import type { Repository } from '../record';

const workspaces = object({ values: list(object({ workspace: object({ slug: str() }) })), next: optional(str()) });
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
  next: optional(str()),
});
const commits = object({ values: list(object({ hash: str() })) });

const branch = object({
  target: object({ hash: str(), message: optional(str()), author: optional(object({ raw: optional(str()) })) }),
});
const diffstat = object({
  values: list(object({ old: optional(object({ path: str() })), new: optional(object({ path: str() })) })),
  next: optional(str()),
});
const named = object({ uuid: str(), full_name: str() });
const MOST_FILES = 500;

/** Bitbucket Cloud: an access token, or `e-mail:API token`. A workspace in base_url limits it to that workspace. */
export class BitbucketHost implements CodeHost {
  constructor(
    private readonly api: JsonHost,
    private readonly workspace: string | undefined,
    private readonly host: string,
    /** Address of its pages: the API gives out no archives. */
    private readonly web: string,
  ) {}

  async repositories(signal: AbortSignal): Promise<Repository[]> {
    const slugs = this.workspace === undefined ? await this.workspaces(signal) : [this.workspace];
    const found: Repository[] = [];
    for (const slug of slugs) found.push(...(await this.repositoriesOf(slug, signal)));
    return found;
  }

  async commit(path: readonly string[], ref: string, signal: AbortSignal): Promise<string> {
    const repository = path.map(encodeURIComponent).join('/');
    const search = new URLSearchParams({ include: shortRef(ref), pagelen: '1' });
    const { value } = await this.api.get(`/repositories/${repository}/commits?${search.toString()}`, commits, signal);
    const [newest] = value.values;
    if (!newest) throw new CommitNotFound('no commits');
    return commitId(newest.hash, this.host);
  }

  async head(path: readonly string[], name: string, signal: AbortSignal): Promise<Head> {
    const at = `${repo(path)}/refs/branches/${encodeURIComponent(name)}`;
    const { hash, author, message } = (await this.api.get(at, branch, signal)).value.target;
    return { commit: commitId(hash, this.host), author: author?.raw, message };
  }

  hasTag(path: readonly string[], name: string, signal: AbortSignal): Promise<boolean> {
    return found(this.api.get(`${repo(path)}/refs/tags/${encodeURIComponent(name)}`, object({ name: str() }), signal));
  }

  async changedFiles(path: readonly string[], before: string, after: string, signal: AbortSignal) {
    // Bitbucket names the newer commit first; without `topic=false`, it compares with the common ancestor.
    const at = `${repo(path)}/diffstat/${after}..${before}?topic=false&pagelen=${MOST_FILES}`;
    const { values, next } = (await this.api.get(at, diffstat, signal)).value;
    if (next !== undefined) return undefined;
    return values.flatMap((file) => [file.old?.path, file.new?.path].filter((name) => name !== undefined));
  }

  async repositoryId(path: readonly string[], signal: AbortSignal): Promise<string> {
    return (await this.api.get(repo(path), named, signal)).value.uuid;
  }

  async repositoryPath(id: string, signal: AbortSignal): Promise<readonly string[]> {
    // The API takes empty braces for the workspace where the repository is named by its UUID.
    const at = repo([this.workspace ?? '{}', id]);
    return (await this.api.get(at, named, signal)).value.full_name.split('/');
  }

  archive(path: readonly string[], commit: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    return this.api.download(`${this.web}/${path.map(encodeURIComponent).join('/')}/get/${commit}.tar.gz`, signal);
  }

  private workspaces(signal: AbortSignal): Promise<string[]> {
    return this.api.all(
      '/user/workspaces?pagelen=100',
      workspaces,
      ({ values, next }) => ({ items: values.map(({ workspace }) => workspace.slug), next }),
      signal,
    );
  }

  private repositoriesOf(workspace: string, signal: AbortSignal): Promise<Repository[]> {
    return this.api.all(
      `/repositories/${encodeURIComponent(workspace)}?role=member&pagelen=100`,
      repositories,
      ({ values, next }) => ({
        items: values.flatMap(({ uuid, slug, full_name, links, mainbranch }) => {
          if (!mainbranch) return [];
          const owner = full_name.split('/')[0] ?? workspace;
          return [{ id: numberOf(uuid), name: slug, owner, url: links.html.href, default_branch: mainbranch.name }];
        }),
        next,
      }),
      signal,
    );
  }
}

/** Returns the integer id of a repository: 48 bits of a hash of its UUID, always the same for the same repository. */
function numberOf(uuid: string): number {
  return createHash('sha256').update(uuid).digest().readUIntBE(0, 6);
}

function repo(path: readonly string[]): string {
  return `/repositories/${path.map(encodeURIComponent).join('/')}`;
}
