import { CodeHostUnreachable, CommitComparisons, CommitResolver } from '@fairlead/contracts';
import { TENANT } from '@fairlead/edge/testing';
import { CodeHostServer } from '../testing/code-host.server';
import { TestService } from '../testing/service';
import { HEAD } from '../testing/shapes';

const TOKENS = { github: 'ghp_good', gitlab: 'glpat-good', gitea: 'gitea-good', bitbucket: 'bb-good' } as const;
const OWNERS = { github: 'octo-org', gitlab: 'team/sub', gitea: 'forge', bitbucket: 'team' } as const;

let service: TestService;
let host: CodeHostServer;
let integration: string;

beforeAll(async () => {
  service = await TestService.start();
});
afterEach(() => host.stop());
afterAll(() => service?.stop());

async function startHost(provider: keyof typeof TOKENS): Promise<void> {
  host = await CodeHostServer.start(provider);
  host.archive = Buffer.from('the files');
  const credentials = { token: TOKENS[provider] };
  integration = await service.add({ provider, base_url: host.origin, credentials });
}

async function fetched(commit = HEAD): Promise<string> {
  const repository = `${host.origin}/${OWNERS[host.provider]}/agent-0.git`;
  const { signal } = new AbortController();
  const source = await service.app.get(CommitResolver).archive(TENANT, integration, repository, commit, signal);
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('the commits between two', () => {
  const BEFORE = 'a'.repeat(40);
  const between = async (provider: keyof typeof TOKENS) => {
    const repository = `${host.origin}/${OWNERS[provider]}/agent-0.git`;
    return service.app.get(CommitComparisons).between(TENANT, integration, repository, BEFORE, HEAD);
  };

  it.each([
    ['github', { author: 'Monalisa', subject: 'Fix all the bugs' }, `octo-org/agent-0/compare/${BEFORE}...${HEAD}`],
    [
      'gitlab',
      { author: 'randx', subject: 'Sanitize for network graph' },
      `team/sub/agent-0/-/compare/${BEFORE}...${HEAD}`,
    ],
    ['gitea', { author: null, subject: 'Fix' }, `forge/agent-0/compare/${BEFORE}...${HEAD}`],
    ['bitbucket', { author: null, subject: 'Fix' }, `team/agent-0/branches/compare/${HEAD}%0D${BEFORE}`],
  ] as const)('are told by %s, with its page that compares them', async (provider, commit, path) => {
    await startHost(provider);
    expect(await between(provider)).toEqual({
      commits: [{ sha: HEAD, ...commit }],
      more: false,
      url: `${host.origin}/${path}`,
    });
    if (provider === 'bitbucket') return;
    host.changed = { files: [], more: true };
    expect((await between(provider)).more).toBe(true);
    host.faults = [{ status: 404 }];
    await expect(between(provider)).rejects.toThrow(/knows no '/);
  });
});

describe('the files of a commit', () => {
  it.each(Object.keys(TOKENS) as (keyof typeof TOKENS)[])(
    'come from %s, and no credentials go where it sends its clients for them',
    async (provider) => {
      await startHost(provider);
      expect(await fetched()).toBe('the files');
      host.archiveAt = '/store?token=temporary';
      host.asked = [];
      expect(await fetched()).toBe('the files');
      expect(host.asked).toMatchObject([{ status: 302 }, { path: '/store?token=temporary', status: 200 }]);
      expect(host.asked[0]!.authorization).toContain(TOKENS[provider]);
      expect(host.asked[1]!.authorization).toBeUndefined();
      await expect(fetched('f'.repeat(40))).rejects.toThrow(/knows no 'f{40}' in the repository .*agent-0/);
    },
  );

  it('are not fetched from an address that may not be called', async () => {
    await startHost('gitea');
    for (const at of [
      'http://127.0.0.2:9/store',
      'http://169.254.169.254/latest/meta-data',
      'https://me:password@example.com/store',
    ]) {
      host.archiveAt = at;
      await expect(fetched()).rejects.toThrow('may not be called');
    }
  });

  it('are not fetched from where credentials are needed again, nor after a second redirect', async () => {
    await startHost('gitea');
    host.archiveAt = `${host.origin}/api/v1/repos/forge/agent-0/archive/${HEAD}.tar.gz`;
    await expect(fetched()).rejects.toThrow('answered 401: check the credentials');
    const redirect = { status: 302, headers: { location: '/store' } };
    for (const faults of [[redirect, redirect], [{ status: 302 }]]) {
      host.faults = faults;
      await expect(fetched()).rejects.toThrow('sends no archive');
    }
  });

  it('are no larger than they may be', async () => {
    await startHost('gitea');
    host.faults = [{ status: 200, headers: { 'content-length': String(201 * 1024 * 1024) } }];
    await expect(fetched()).rejects.toThrow('sent too large an answer');
  });

  it('can be fetched another time when the host is down, limits requests or hangs up, and only then', async () => {
    await startHost('gitea');
    for (const fault of [{ status: 503 }, { status: 429 }, 'cut'] as const) {
      host.faults = [fault];
      const failure = await fetched().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(CodeHostUnreachable);
      expect((failure as Error).message).toMatch(/^The code host Gitea [^<{]+\.$/);
    }
    host.faults = [{ status: 403 }];
    await expect(fetched()).rejects.not.toBeInstanceOf(CodeHostUnreachable);
    expect(await fetched()).toBe('the files');
  });
});
