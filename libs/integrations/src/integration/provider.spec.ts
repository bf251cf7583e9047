import { apiUrl, publicHost, repositoryPath } from './provider';

it.each([
  ['github', 'https://github.com', 'https://api.github.com'],
  ['github', 'https://octo.ghe.com/', 'https://api.octo.ghe.com'],
  ['github', 'https://git.corp.example', 'https://git.corp.example/api/v3'],
  ['gitlab', 'https://gitlab.com/', 'https://gitlab.com/api/v4'],
  ['gitlab', 'https://corp.example/gitlab', 'https://corp.example/gitlab/api/v4'],
  ['gitea', 'https://codeberg.org', 'https://codeberg.org/api/v1'],
  ['bitbucket', 'https://bitbucket.org/team', 'https://api.bitbucket.org/2.0'],
] as const)('knows where the API of %s at %s is', (provider, baseUrl, api) => {
  expect(apiUrl(provider, baseUrl)).toBe(api);
});

it('knows the public hosts, of which Gitea has none', () => {
  expect(publicHost('gitlab')).toBe('https://gitlab.com');
  expect(() => publicHost('gitea')).toThrow(/^base_url is required/);
});

it.each([
  ['https://github.com', 'https://github.com/octo/agent.git', ['octo', 'agent']],
  ['https://gitlab.com', 'https://gitlab.com/a/b/c/', ['a', 'b', 'c']],
  ['https://corp.example/gitlab', 'https://corp.example/gitlab/a/b', ['a', 'b']],
  ['https://bitbucket.org/team', 'https://bitbucket.org/team/agent', ['team', 'agent']],
])('of the host %s reads the repository %s', (baseUrl, repoUrl, path) => {
  expect(repositoryPath(baseUrl, repoUrl)).toEqual(path);
});

it.each([
  ['https://github.com', 'https://gitlab.com/octo/agent'],
  ['https://github.com', 'https://github.com/octo'],
  ['https://github.com', 'https://github.com/octo/..%2f..%2fuser'],
  ['https://github.com', 'https://github.com/octo/%2e%2e'],
  ['https://corp.example/gitlab', 'https://corp.example/other/a/b'],
  ['https://github.com', 'https://github.com/octo/%zz'],
])('of the host %s refuses the repository %s', (baseUrl, repoUrl) => {
  expect(() => repositoryPath(baseUrl, repoUrl)).toThrow(/^repo_url is not a repository/);
});
