import { toWire } from '@fairlead/api';
import { canonicalUrl, readsWire } from './http/canonical-url';

const ID = '12345678-1234-5678-1234-567812345678';

describe('canonicalUrl', () => {
  it.each([
    ['/v2/deployments?limit=1', '/v2/deployments?limit=1', 'specification'],
    ['/api-host/v2/deployments?limit=1', '/v2/deployments?limit=1', 'wire'],
    [`/v1/integrations/codehost/${ID}/repos`, `/v1/integrations/codehost/${ID}/repos`, 'specification'],
    [`/v1/integrations/github/${ID}/repos`, `/v1/integrations/codehost/${ID}/repos`, 'wire'],
    ['/v1/integrations/github/install', '/v1/integrations/codehost/install', 'wire'],
    [`/v1/integrations/forge/github/${ID}/repos`, `/v1/integrations/managed/codehost/${ID}/repos`, 'wire'],
    [`/api-host/v1/integrations/github/${ID}/repos?x`, `/v1/integrations/codehost/${ID}/repos?x`, 'wire'],
    ['/v1/integrations/githubby/x', '/v1/integrations/githubby/x', 'specification'],
    ['/api/v1/sessions', '/api/v1/sessions', 'specification'],
    ['/api/sessions', '/api/v1/sessions', 'specification'],
    ['/sessions?name=a//b', '/api/v1/sessions?name=a//b', 'specification'],
    ['/info', '/api/v1/info', 'specification'],
    ['/datasets/upload-experiment', '/api/v1/datasets/upload-experiment', 'specification'],
    ['/runs/query', '/api/v1/runs/query', 'specification'],
    ['/v1/datasets/x', '/api/v1/datasets/x', 'specification'],
    ['/api/v2/runs/query', '/v2/runs/query', 'specification'],
    ['/v2/runs/query', '/v2/runs/query', 'specification'],
    // The id of a thread is one segment, however its slashes are sent; one at the end is not part of it.
    ['/runs/threads/a/b%2Fc/?select=d/e', '/api/v1/runs/threads/a%2Fb%2Fc/?select=d/e', 'specification'],
    ['/api/v1/runs/threads/a', '/api/v1/runs/threads/a', 'specification'],
    ['/v1/projects/x', '/v1/projects/x', 'specification'],
    ['/api/events', '/api/events', 'specification'],
    ['/health/live', '/health/live', 'specification'],
    ['//api-host//v2/deployments', '/v2/deployments', 'wire'],
    ['http://host:80/api-host/v2/deployments?a=http://b', '/v2/deployments?a=http://b', 'wire'],
    ['/', '/', 'specification'],
  ])('%s is %s in the names of the %s', (given, url, dialect) => {
    expect(canonicalUrl(given)).toEqual({ url, dialect });
  });

  it.each('sessions datasets runs info examples feedback workspaces tenants api-key public commits'.split(' '))(
    'serves %s below /api/v1, /api, /v1 and the root',
    (segment) => {
      for (const base of ['/api/v1', '/api', '/v1', '']) {
        expect(canonicalUrl(`${base}/${segment}/x?y`).url).toBe(`/api/v1/${segment}/x?y`);
      }
    },
  );

  it('uses the names of the setting where the path does not decide', () => {
    expect(canonicalUrl('/v2/deployments', 'wire').dialect).toBe('wire');
  });
});

describe('readsWire', () => {
  it.each([
    ['python-httpx/0.28.1', 'application/json', true],
    ['python-httpx/0.28.1', '*/*', false],
    ['python-httpx/0.28.1', undefined, false],
    ['my-tool/1 python-httpx/0.28.1', 'application/json', false],
    ['curl/8.0', 'application/json', false],
    ['node', 'application/json', false],
    [undefined, 'application/json', false],
  ])('tells the command line for Python by its headers: %s with %s', (agent, accept, is) => {
    expect(readsWire({ 'user-agent': agent, accept })).toBe(is);
  });
});

describe('toWire', () => {
  const config = (names: { path: string; space: string; cache: string }) => ({
    source_config: {
      resource_spec: { [names.cache]: 1, labels: { cache_cpu: 'kept' }, sidecars: [{ env: [{ cache_cpu: 1 }] }] },
      listener_config: { [names.space]: 'a' },
    },
    source_revision_config: { [names.path]: 'x' },
  });
  const own = { path: 'graph_config_path', space: 'cluster_namespace', cache: 'cache_cpu' };
  const wire = { path: 'langgraph_config_path', space: 'k8s_namespace', cache: 'redis_cpu' };

  it('renames members and sources where they belong, and nothing in free-form objects', () => {
    const resource = { source: 'external_container', ...config(own), secrets: [] };
    const before = structuredClone(resource);
    expect(toWire(resource)).toEqual({ source: 'external_docker', ...config(wire), secrets: [] });
    expect(resource).toEqual(before);
  });

  it('takes pages, lists and nothing', () => {
    expect(toWire({ resources: [{ source: 'codehost' }], offset: 1 })).toEqual({
      resources: [{ source: 'github' }],
      offset: 1,
    });
    expect(toWire([{ source: 'internal_source', source_config: { resource_spec: null } }])).toEqual([
      { source: 'internal_source', source_config: { resource_spec: null } },
    ]);
    expect(toWire(null)).toBeNull();
  });
});
