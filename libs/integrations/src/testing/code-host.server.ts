import { createHash, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from '../integration/integration';
import { type Answer, ReportedHost } from './reported-host';
import * as shapes from './shapes';

/** A fault that the next request meets instead of its answer. */
type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'silent'
  /** It does what it is asked, and its answer is lost. */
  | 'lost'
  /** It does what it is asked, and does not answer. */
  | 'unanswered'
  | 'cut'
  | 'not JSON'
  | 'another shape';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly status: number;
}

interface Head {
  readonly commit: string;
  readonly message: string;
  readonly author: string;
}

const MAIN: Head = { commit: shapes.HEAD, message: 'Fix the agent\n\nIt was slow.', author: 'Ada Author' };

/** Where each host has a repository, by its name and by its id. */
const REPOSITORIES = {
  github: { byName: '/api/v3/repos/octo-org/', byId: '/api/v3/repositories/1296000' },
  gitlab: { byName: '/api/v4/projects/team%2Fsub%2F', byId: '/api/v4/projects/4' },
  gitea: { byName: '/api/v1/repos/forge/', byId: '/api/v1/repositories/100' },
  bitbucket: {
    byName: '/2.0/repositories/team/',
    byId: '/2.0/repositories/%7B%7D/%7B0eb35a0e-6b56-4bd1-9a43-000000000000%7D',
  },
} as const;

const PER_PAGE = { github: 100, gitlab: 100, gitea: 50, bitbucket: 100 } as const;

/** A server on 127.0.0.1 that speaks the wire formats of all providers; `repositories` says how many it has. */
export class CodeHostServer {
  repositories = 5;
  /** Faults for the next requests, first come first served. */
  faults: Fault[] = [];
  /** The same for the next request whose method and path match. */
  faultsAt: { readonly at: RegExp; readonly fault: Fault }[] = [];
  asked: Asked[] = [];
  busiest = 0;
  /** Milliseconds before each answer; some, so that requests sent at once are seen at once. */
  delay = 5;
  origin = '';
  private running = 0;
  /** Checks the signature of an App's token. */
  appKey?: string;
  /** Files of the commit at the head, and where a host sends clients that want them; where nothing is set it sends them itself. */
  archive: Buffer | undefined;
  archiveAt: string | undefined;
  /** Heads of the branches of the repository, and its tags. */
  branches: Record<string, Head> = { main: MAIN, 'feature/x': MAIN };
  tags: readonly string[] = ['v1'];
  /** Files that differ between any two commits; a host that does not list all of them has more. */
  changed: { readonly files: readonly string[]; readonly more?: boolean } = { files: ['src/agent.py'] };
  /** Another name that the repository has got, and whether another repository has its former one. */
  renamed: string | undefined;
  taken = false;
  gone = false;
  /** Statuses of commits, pull requests and their comments. */
  readonly reported: ReportedHost;
  private readonly server: Server;

  private constructor(readonly provider: Provider) {
    this.server = createServer((request, response) => {
      this.running++;
      this.busiest = Math.max(this.busiest, this.running);
      response.on('close', () => this.running--);
      const sent: Buffer[] = [];
      request.on('data', (part: Buffer) => sent.push(part));
      setTimeout(() => this.answer(request, response, sent), this.delay);
    });
    this.reported = new ReportedHost(provider, REPOSITORIES[provider].byName);
  }

  static async start(provider: Provider): Promise<CodeHostServer> {
    const host = new CodeHostServer(provider);
    await new Promise<void>((resolve) => host.server.listen(0, '127.0.0.1', resolve));
    host.origin = `http://127.0.0.1:${(host.server.address() as AddressInfo).port}`;
    return host;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse, sent: readonly Buffer[]): void {
    const url = new URL(request.url ?? '/', this.origin);
    const path = url.pathname + url.search;
    const { authorization } = request.headers;
    const send = (status: number, body: string | Buffer, headers: Record<string, string> = {}) => {
      this.asked.push({ method: request.method ?? 'GET', path, authorization, status });
      response.writeHead(status, headers).end(body);
    };
    const fault = this.faults.shift() ?? this.faultOf(`${request.method} ${path}`);
    if (fault === 'silent') return;
    if (fault === 'cut') {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[{"id":');
      setTimeout(() => response.destroy(), 20);
      return;
    }
    if (fault === 'not JSON') return send(200, '<html>Sign in</html>', { 'content-type': 'text/html' });
    if (fault === 'another shape') return send(200, '{"items":[1]}', { 'content-type': 'application/json' });
    if (fault === 'lost' || fault === 'unanswered') {
      this.respond(url, request, Buffer.concat(sent));
      this.asked.push({ method: request.method ?? 'GET', path, authorization, status: 0 });
      if (fault === 'lost') response.destroy();
      return;
    }
    if (fault) return send(fault.status, fault.body ?? 'secret diagnostics of the host', fault.headers);
    const {
      status = 200,
      body,
      headers = {},
    } = this.respond(url, request, Buffer.concat(sent)) ?? { status: 404, body: { message: 'Not Found' } };
    if (Buffer.isBuffer(body)) return send(status, body, headers);
    const text = JSON.stringify(body);
    const etag = `W/"${createHash('sha256').update(text).digest('hex')}"`;
    if (request.headers['if-none-match'] === etag) return send(304, '', { etag });
    send(status, text, { 'content-type': 'application/json; charset=utf-8', etag, ...headers });
  }

  private faultOf(asked: string): Fault | undefined {
    const place = this.faultsAt.findIndex(({ at }) => at.test(asked));
    return place < 0 ? undefined : this.faultsAt.splice(place, 1)[0]!.fault;
  }

  private respond(url: URL, request: IncomingMessage, sent: Buffer): Answer | undefined {
    // Whoever has the address needs no credentials, and stores refuse two kinds of them.
    if (url.pathname === '/store') return request.headers.authorization ? { status: 400, body: {} } : this.files();
    const moved = this.moved(url);
    if (moved) return moved;
    if (this.isAllowed(request)) {
      const known =
        this.reported.respond(request.method ?? 'GET', url, sent) ?? this.repository(url.pathname, url.searchParams);
      if (known) return known;
    }
    switch (this.provider) {
      case 'github':
        return this.gitHub(url, request);
      case 'gitlab':
        return this.gitLab(url, request);
      case 'gitea':
        return this.gitea(url, request);
      case 'bitbucket':
        return this.bitbucket(url, request);
    }
  }

  private gitHub(url: URL, { headers, method }: IncomingMessage): Answer | undefined {
    const { pathname } = url;
    const { authorization = '' } = headers;
    if (method === 'POST' && pathname === '/api/v3/app/installations/42/access_tokens') {
      const [head, body, signature = ''] = authorization.replace(/^bearer /i, '').split('.');
      const signed = Buffer.from(`${head}.${body}`);
      const valid = this.appKey && verify('sha256', signed, this.appKey, Buffer.from(signature, 'base64url'));
      if (!valid) return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
      const token = { token: 'ghs_installation', expires_at: new Date(Date.now() + 3_600_000).toISOString() };
      return { status: 201, body: { ...token, permissions: { contents: 'read' }, repository_selection: 'all' } };
    }
    if (!['token ghp_good', 'token ghs_installation'].includes(authorization)) {
      return { status: 401, body: { message: 'Bad credentials' } };
    }
    const repository = (n: number) => shapes.gitHubRepository(n, this.origin);
    if (pathname === '/api/v3/user/repos') return this.page(url, repository, 'page');
    if (pathname === '/api/v3/installation/repositories') {
      const { body, headers: links } = this.page(url, repository, 'page');
      return { body: { total_count: this.repositories, repositories: body }, headers: links };
    }
    if (pathname === `/api/v3/repos/octo-org/agent-0/tarball/${shapes.HEAD}`) return this.archived();
    const [, ref] = /^\/api\/v3\/repos\/octo-org\/agent-0\/commits\/(.+)$/.exec(pathname) ?? [];
    if (ref === undefined) return undefined;
    if (!['main', 'heads/main', 'feature/x'].includes(decodeURIComponent(ref))) {
      return { status: 422, body: { message: 'No commit found for SHA: nope' } };
    }
    return { body: shapes.gitHubCommit(shapes.HEAD, this.origin) };
  }

  private gitLab(url: URL, { headers }: IncomingMessage): Answer | undefined {
    const { pathname } = url;
    if (headers.authorization !== 'Bearer glpat-good') return { status: 401, body: { message: '401 Unauthorized' } };
    if (pathname === '/api/v4/projects') {
      return this.page(url, (n) => shapes.gitLabProject(n, this.origin), 'id_after');
    }
    const ofAgent = '/api/v4/projects/team%2Fsub%2Fagent-0/repository/archive.tar.gz';
    if (pathname === ofAgent && url.searchParams.get('sha') === shapes.HEAD) return this.archived();
    const [, project, ref] = /^\/api\/v4\/projects\/([^/]+)\/repository\/commits\/([^/]+)$/.exec(pathname) ?? [];
    const isKnown = project === 'team%2Fsub%2Fagent-0' && ['main', 'feature%2Fx'].includes(ref ?? '');
    return isKnown
      ? { body: shapes.gitLabCommit(shapes.HEAD) }
      : { status: 404, body: { message: '404 Commit Not Found' } };
  }

  private gitea(url: URL, { headers }: IncomingMessage): Answer | undefined {
    const { pathname, searchParams } = url;
    if (headers.authorization !== 'token gitea-good') return { status: 401, body: { message: 'invalid token' } };
    if (pathname === '/api/v1/user/repos') {
      return this.page(url, (n) => shapes.giteaRepository(n, this.origin), 'page');
    }
    if (pathname === `/api/v1/repos/forge/agent-0/archive/${shapes.HEAD}.tar.gz`) return this.archived();
    if (pathname !== '/api/v1/repos/forge/agent-0/commits') return undefined;
    if (!['main', 'feature/x'].includes(searchParams.get('sha') ?? '')) return undefined;
    return { body: [shapes.giteaCommit(shapes.HEAD, this.origin)] };
  }

  private bitbucket(url: URL, { headers }: IncomingMessage): Answer | undefined {
    const { pathname, searchParams } = url;
    const basic = `Basic ${Buffer.from('me@example.com:api-token').toString('base64')}`;
    if (!['Bearer bb-good', basic].includes(headers.authorization ?? ''))
      return { status: 401, body: { type: 'error' } };
    if (pathname === '/2.0/user/workspaces') {
      return { body: { values: ['team', 'lab'].map(shapes.bitbucketWorkspace), pagelen: 100, size: 2, page: 1 } };
    }
    const [, workspace] = /^\/2\.0\/repositories\/(team|lab)$/.exec(pathname) ?? [];
    if (workspace !== undefined) {
      const { body, headers: links } = this.page(url, (n) => shapes.bitbucketRepository(n, workspace), 'page');
      const next = /<([^>]+)>; rel="next"/.exec(links?.link ?? '')?.[1];
      return { body: { values: body, pagelen: 100, ...(next && { next }) } };
    }
    if (pathname === `/team/agent-0/get/${shapes.HEAD}.tar.gz`) return this.archived();
    if (pathname === `/2.0/repositories/team/agent-0/commits/${shapes.HEAD}`) {
      return { body: { values: [shapes.bitbucketCommit(shapes.HEAD)], pagelen: 100 } };
    }
    if (pathname !== '/2.0/repositories/team/agent-0/commits') return undefined;
    const isKnown = ['main', 'feature/x'].includes(searchParams.get('include') ?? '');
    return isKnown
      ? { body: { values: [shapes.bitbucketCommit(shapes.HEAD)] } }
      : { status: 404, body: { type: 'error', error: { message: 'Commit not found', data: {} } } };
  }

  private isAllowed({ headers }: IncomingMessage): boolean {
    return /(ghp_good|ghs_installation|glpat-good|gitea-good|bb-good)$/.test(headers.authorization ?? '');
  }

  /** Answers requests with the former name of a repository as the host does, and finds it under its present name. */
  private moved(url: URL): Answer | undefined {
    const { byName, byId } = REPOSITORIES[this.provider];
    if (this.renamed === undefined || this.taken) return undefined;
    if (url.pathname.startsWith(`${byName}agent-0`)) {
      // Bitbucket does not redirect.
      if (this.provider === 'bitbucket') return { status: 404, body: { type: 'error' } };
      return { status: 301, body: {}, headers: { location: `${this.origin}${byId}` } };
    }
    url.pathname = url.pathname.replace(`${byName}${this.renamed}`, `${byName}agent-0`);
    return undefined;
  }

  /** The repository `agent-0` with its branches, tags and comparisons. */
  private repository(pathname: string, search: URLSearchParams): Answer | undefined {
    const { byName, byId } = REPOSITORIES[this.provider];
    const missing = { status: 404, body: { message: 'Not Found' } };
    const isTaken = this.taken && pathname.startsWith(`${byName}agent-0`);
    const name = (pathname.startsWith(byId) && this.renamed) || 'agent-0';
    if (pathname === byId || pathname === `${byName}agent-0`) {
      if (this.gone && pathname === byId) return missing;
      return { body: shapes.repository(this.provider, isTaken ? 77 : 0, name) };
    }
    if (this.taken && this.renamed) pathname = pathname.replace(`${byName}${this.renamed}`, `${byName}agent-0`);
    if (!pathname.startsWith(`${byName}agent-0/`)) return undefined;
    const rest = pathname.slice(`${byName}agent-0/`.length);
    const [, kind, named] =
      /^(?:repository\/|refs\/)?(branches|tags|git\/ref\/tags|commits\/heads)(?:\/|%2F)(.+)$/.exec(
        rest.replace('commits/heads%2F', 'commits/heads/'),
      ) ?? [];
    const wanted = decodeURIComponent(named ?? '');
    if (kind === 'tags' || kind === 'git/ref/tags') {
      return this.tags.includes(wanted) ? { body: { name: wanted, ref: `refs/tags/${wanted}` } } : missing;
    }
    if (kind !== undefined && (this.provider === 'github') === (kind === 'commits/heads')) {
      const head = isTaken ? { ...MAIN, commit: 'e'.repeat(40) } : this.branches[wanted];
      return head ? { body: shapes.head(this.provider, wanted, head, this.origin) } : missing;
    }
    const isComparison = /^(?:repository\/)?(compare|diffstat)\b/.test(rest);
    if (!isComparison) return undefined;
    const [, before] = /([0-9a-f]{40})(?:\.\.\.[0-9a-f]{40})?$/.exec(decodeURIComponent(rest)) ?? [];
    return { body: shapes.comparison(this.provider, before ?? search.get('from') ?? '', this.changed) };
  }

  private archived(): Answer | undefined {
    if (this.archiveAt === undefined) return this.files();
    return { status: 302, body: {}, headers: { location: this.archiveAt } };
  }

  private files(): Answer | undefined {
    return this.archive && { body: this.archive, headers: { 'content-type': 'application/gzip' } };
  }

  /** One page of the repositories and the links to the others, counted by `parameter`. */
  private page(url: URL, make: (n: number) => unknown, parameter: string): Answer {
    const size = PER_PAGE[this.provider];
    const page = Number(url.searchParams.get(parameter) ?? 1);
    const first = (page - 1) * size;
    const count = Math.max(0, Math.min(size, this.repositories - first));
    const next = new URL(url);
    next.searchParams.set(parameter, String(page + 1));
    const hasMore = first + count < this.repositories;
    return {
      body: Array.from({ length: count }, (_, index) => make(first + index)),
      headers: { link: `<${this.origin}/first>; rel="first"${hasMore ? `, <${next.href}>; rel="next"` : ''}` },
    };
  }
}
