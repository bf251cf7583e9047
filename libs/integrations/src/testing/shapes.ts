/** Answers of code hosts as their public API references show them, cut down to what tells them apart. */

const SHA = (n: number) => n.toString(16).padStart(40, 'a');

/** The commit that every branch named in these shapes is at. */
export const HEAD = SHA(1);

export const gitHubRepository = (n: number, origin: string) => ({
  id: 1_296_000 + n,
  node_id: 'MDEwOlJlcG9zaXRvcnkxMjk2MjY5',
  name: `agent-${n}`,
  full_name: `octo-org/agent-${n}`,
  private: true,
  owner: { login: 'octo-org', id: 1, type: 'Organization', site_admin: false },
  html_url: `${origin}/octo-org/agent-${n}`,
  description: null,
  fork: false,
  url: `${origin}/api/v3/repos/octo-org/agent-${n}`,
  clone_url: `${origin}/octo-org/agent-${n}.git`,
  ssh_url: `git@github.com:octo-org/agent-${n}.git`,
  default_branch: 'main',
  archived: false,
  visibility: 'private',
  pushed_at: '2026-01-26T19:06:43Z',
  permissions: { admin: false, push: false, pull: true },
});

export const gitHubCommit = (sha: string, origin: string) => ({
  url: `${origin}/api/v3/repos/octo-org/agent-0/commits/${sha}`,
  sha,
  node_id: 'MDY6Q29tbWl0NmRjYjA5YjViNTc4NzVmMzM0ZjYxYWViZWQ2OTVlMmU0MTkzZGI1ZQ==',
  commit: { author: { name: 'Monalisa', date: '2026-04-14T16:00:49Z' }, message: 'Fix all the bugs' },
  parents: [],
});

export const gitLabProject = (n: number, origin: string) => ({
  id: 4 + n,
  description: null,
  name: `Agent ${n}`,
  name_with_namespace: `Team / Sub / Agent ${n}`,
  path: `agent-${n}`,
  path_with_namespace: `team/sub/agent-${n}`,
  created_at: '2026-09-30T13:46:02Z',
  default_branch: n === 3 ? null : 'main',
  ssh_url_to_repo: `git@gitlab.example.com:team/sub/agent-${n}.git`,
  http_url_to_repo: `${origin}/team/sub/agent-${n}.git`,
  web_url: `${origin}/team/sub/agent-${n}`,
  last_activity_at: '2026-09-30T13:46:02Z',
  namespace: { id: 3, name: 'Sub', path: 'sub', kind: 'group', full_path: 'team/sub' },
});

export const gitLabCommit = (sha: string) => ({
  id: sha,
  short_id: sha.slice(0, 8),
  title: 'Sanitize for network graph',
  author_name: 'randx',
  created_at: '2026-09-20T09:06:12.201+00:00',
  parent_ids: [],
});

export const giteaRepository = (n: number, origin: string) => ({
  id: 100 + n,
  owner: { id: 1, login: 'forge', login_name: '', full_name: '', email: '', username: 'forge' },
  name: `agent-${n}`,
  full_name: `forge/agent-${n}`,
  empty: false,
  private: true,
  html_url: `${origin}/forge/agent-${n}`,
  clone_url: `${origin}/forge/agent-${n}.git`,
  default_branch: 'trunk',
  archived: false,
  permissions: { admin: true, push: true, pull: true },
});

export const giteaCommit = (sha: string, origin: string) => ({
  url: `${origin}/api/v1/repos/forge/agent-0/git/commits/${sha}`,
  sha,
  created: '2026-01-26T19:06:43Z',
  commit: { message: 'Fix', tree: { sha } },
});

export const bitbucketWorkspace = (slug: string) => ({
  type: 'workspace_access',
  administrator: false,
  workspace: { type: 'workspace_base', uuid: `{${slug}}`, slug, links: {} },
});

export const bitbucketRepository = (n: number, workspace: string) => ({
  type: 'repository',
  uuid: `{0eb35a0e-6b56-4bd1-9a43-${n.toString().padStart(12, '0')}}`,
  full_name: `${workspace}/agent-${n}`,
  is_private: true,
  scm: 'git',
  name: `Agent ${n}`,
  slug: `agent-${n}`,
  workspace: { type: 'workspace', slug: workspace },
  mainbranch: n === 3 ? null : { type: 'branch', name: 'main' },
  links: {
    html: { href: `https://bitbucket.org/${workspace}/agent-${n}` },
    clone: [{ name: 'https', href: `https://bitbucket.org/${workspace}/agent-${n}.git` }],
  },
});

export const bitbucketCommit = (hash: string) => ({
  type: 'commit',
  hash,
  message: 'Fix',
  date: '2026-01-26T19:06:43Z',
});

interface Head {
  readonly commit: string;
  readonly message: string;
  readonly author: string;
}

/** A repository as the routes for one of them show it. */
export const repository = (provider: string, n: number, name: string): object => {
  const full_name = `${provider === 'github' ? 'octo-org' : provider === 'gitea' ? 'forge' : 'team'}/${name}`;
  if (provider === 'gitlab') return { id: 4 + n, path: name, path_with_namespace: `team/sub/${name}` };
  if (provider === 'bitbucket') {
    return { type: 'repository', uuid: bitbucketRepository(n, 'team').uuid, full_name, slug: name };
  }
  return { id: (provider === 'github' ? 1_296_000 : 100) + n, name, full_name };
};

/** A branch with its newest commit; GitHub is asked for the commit. */
export const head = (provider: string, name: string, { commit, message, author }: Head, origin: string): object => {
  if (provider === 'github') {
    return {
      ...gitHubCommit(commit, origin),
      commit: { author: { name: author, date: '2026-04-14T16:00:49Z' }, message },
    };
  }
  if (provider === 'gitlab')
    return { name, protected: true, commit: { ...gitLabCommit(commit), author_name: author, message } };
  if (provider === 'gitea') {
    return {
      name,
      commit: {
        id: commit,
        message,
        author: { name: author, email: '', username: '' },
        timestamp: '2026-01-26T19:06:43Z',
      },
    };
  }
  return {
    type: 'branch',
    name,
    target: { ...bitbucketCommit(commit), message, author: { type: 'author', raw: `${author} <a@example.com>` } },
  };
};

interface Changed {
  readonly files: readonly string[];
  readonly more?: boolean;
}

/** A comparison of two commits with the files that differ. */
export const comparison = (provider: string, before: string, { files, more = false }: Changed): object => {
  if (provider === 'github') {
    const status = more ? 'diverged' : 'ahead';
    return {
      status,
      ahead_by: 1,
      total_commits: more ? 2 : 1,
      commits: [gitHubCommit(HEAD, 'https://github.example')],
      files: files.map((filename) => ({ sha: HEAD, filename, status: 'modified' })),
    };
  }
  if (provider === 'gitlab') {
    const diffs = files.map((path) => ({ old_path: path, new_path: path, diff: '' }));
    return {
      commit: gitLabCommit(HEAD),
      commits: [gitLabCommit(HEAD)],
      diffs,
      compare_timeout: more,
      compare_same_ref: false,
    };
  }
  if (provider === 'gitea') {
    const parents = [{ sha: before }];
    return {
      total_commits: more ? 2 : 1,
      commits: [{ ...giteaCommit(HEAD, ''), parents, files: files.map((filename) => ({ filename })) }],
    };
  }
  const values = files.map((path) => ({ type: 'diffstat', status: 'modified', old: { path }, new: { path } }));
  return { pagelen: 500, values, page: 1, ...(more && { next: 'https://api.bitbucket.org/2.0/next' }) };
};
