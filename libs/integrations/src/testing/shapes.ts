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
