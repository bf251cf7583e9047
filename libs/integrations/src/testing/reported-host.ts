import type { Provider } from '../integration/integration';

export interface Answer {
  readonly status?: number;
  /** Sent as JSON, unless it is a file. */
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

/** A status that a commit was given. */
interface GivenStatus {
  readonly commit: string;
  readonly name: string;
  readonly state: string;
  readonly description: string;
  readonly url: string | undefined;
}

interface GivenComment {
  readonly id: number;
  readonly author: number;
  readonly pull: number;
  body: string;
}

/** A pull request of the repository `agent-0`. */
interface PullOfHost {
  readonly number: number;
  readonly commit: string;
  readonly state: 'open' | 'closed';
}

const OURS = 41;
const TIME = '2026-01-26T19:06:43Z';
const UUID = '{d301aafa-d676-4ee0-88be-962be7417567}';
const missing = { status: 404, body: { message: 'Not Found' } };

type Sent = Record<string, unknown>;

/** The part of a code host that is told of commits and pull requests; bodies are as the hosts document them. */
export class ReportedHost {
  statuses: GivenStatus[] = [];
  comments: GivenComment[] = [];
  pulls: PullOfHost[] = [];
  private nextId = 1000;

  constructor(
    private readonly provider: Provider,
    /** Address of repositories by their names. */
    private readonly byName: string,
  ) {}

  /** A comment that somebody else wrote. */
  add(pull: number, body: string, author = 7): void {
    this.comments.push({ id: this.nextId++, author, pull, body });
  }

  respond(method: string, url: URL, sent: Buffer): Answer | undefined {
    const at = `${this.byName}agent-0/`;
    if (!url.pathname.startsWith(at)) return undefined;
    const rest = url.pathname.slice(at.length);
    const body = sent.length > 0 ? (JSON.parse(sent.toString()) as Sent) : {};
    const isOther = (name: string) => method !== name;
    const [, commit] = /^(?:statuses|commit)\/([0-9a-f]{40})(?:\/statuses\/build)?$/.exec(rest) ?? [];
    if (commit !== undefined) return isOther('POST') ? missing : this.state(commit, body);
    const pulls = this.listed(method, rest, url.searchParams);
    if (pulls) return pulls;
    const [, number, id] =
      /^(?:issues|merge_requests|pullrequests)\/(\d+)\/(?:comments|notes)(?:\/(\d+))?$/.exec(rest) ?? [];
    const [, ofIssues] = /^issues\/comments\/(\d+)$/.exec(rest) ?? [];
    if (number !== undefined && id === undefined) return this.ofPull(method, Number(number), body, url.searchParams);
    const known = this.comments.find((one) => one.id === Number(id ?? ofIssues));
    if (id === undefined && ofIssues === undefined) return undefined;
    if (!known) return missing;
    if (method === 'DELETE') {
      this.comments = this.comments.filter((one) => one !== known);
      return { status: 204, body: '' };
    }
    if (method !== (this.provider === 'github' || this.provider === 'gitea' ? 'PATCH' : 'PUT')) return missing;
    known.body = this.bodyOf(body);
    return { body: this.shown(known) };
  }

  private state(commit: string, sent: Sent): Answer {
    const text = (name: string) => sent[name] as string;
    const state = text('state');
    const name = text(this.provider === 'gitlab' || this.provider === 'bitbucket' ? 'name' : 'context');
    const url = text(this.provider === 'bitbucket' ? 'url' : 'target_url') as string | undefined;
    const description = text('description');
    if (this.provider === 'gitlab') {
      const last = this.statuses.findLast((one) => one.commit === commit && one.name === name);
      const message = 'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition)';
      if (state === 'pending' && last?.state === 'pending') return { status: 400, body: { message } };
    }
    if (this.provider === 'bitbucket' && (url === undefined || text('key').length > 40)) {
      return { status: 400, body: { type: 'error', error: { message: 'Bad request' } } };
    }
    if (this.provider === 'github' && description.length > 140) {
      return { status: 422, body: { message: 'Validation Failed' } };
    }
    this.statuses.push({ commit, name, state, description, url });
    return { status: 201, body: this.shownStatus(commit, { state, name, description, url, key: text('key') }) };
  }

  private shownStatus(commit: string, given: Sent): object {
    const { state, name, description, url } = given;
    switch (this.provider) {
      case 'github':
        return {
          url: `https://api.github.com/repos/octo-org/agent-0/statuses/${commit}`,
          ...{ id: 1, node_id: 'MDY6U3RhdHVzMQ==', state, description, target_url: url, context: name },
          ...{ created_at: TIME, updated_at: TIME, creator: { login: 'fairlead', id: OURS, type: 'User' } },
        };
      case 'gitlab':
        return {
          ...{ id: 93, sha: commit, ref: 'main', status: state, name, description, target_url: url, coverage: null },
          ...{ allow_failure: false, created_at: TIME, started_at: null, finished_at: null },
          author: { id: OURS, username: 'project_4_bot', name: 'fairlead', state: 'active' },
        };
      case 'gitea':
        return {
          ...{ id: 12, status: state, target_url: url, description, context: name, created_at: TIME },
          ...{ url: `https://git.example/api/v1/repos/forge/agent-0/statuses/${commit}`, updated_at: TIME },
          creator: { id: OURS, login: 'fairlead' },
        };
      case 'bitbucket':
        return {
          ...{ type: 'build', key: given.key, state, name, description, url, refname: null },
          ...{ created_on: TIME, updated_on: TIME, links: { commit: { href: commit } } },
        };
    }
  }

  /** The pull requests of a commit, or of the repository. */
  private listed(method: string, rest: string, search: URLSearchParams): Answer | undefined {
    const [, commit] = /^(?:repository\/)?commits\/([0-9a-f]{40})\/(?:pulls|merge_requests)$/.exec(rest) ?? [];
    const isList = commit !== undefined || ((rest === 'pulls' || rest === 'pullrequests') && method === 'GET');
    if (!isList) return undefined;
    const open = (state: string) => (this.provider === 'gitlab' && state === 'open' ? 'opened' : state);
    const wanted = this.pulls
      .filter((one) => commit === undefined || one.commit === commit)
      .filter(({ state }) => !search.has('state') || search.get('state')!.toLowerCase() === open(state));
    const shown = this.page(wanted, search).map(({ number, commit: sha, state }) => {
      if (this.provider === 'gitlab') {
        return { ...{ id: 100 + number, iid: number, project_id: 4, title: 'Ask twice', state: open(state), sha } };
      }
      const title = 'Ask twice';
      if (this.provider === 'bitbucket') {
        const source = { branch: { name: 'twice' }, commit: { type: 'commit', hash: sha.slice(0, 12) } };
        return { type: 'pullrequest', id: number, title, state: state === 'open' ? 'OPEN' : 'MERGED', source };
      }
      return { ...{ id: 9000 + number, number, title, state, head: { label: 'octo-org:twice', ref: 'twice', sha } } };
    });
    return { body: this.provider === 'bitbucket' ? { values: shown, pagelen: 50, page: 1 } : shown };
  }

  private ofPull(method: string, pull: number, sent: Sent, search: URLSearchParams): Answer {
    if (!this.pulls.some(({ number }) => number === pull)) return missing;
    if (method === 'POST') {
      const made = { id: this.nextId++, author: OURS, pull, body: this.bodyOf(sent) };
      this.comments.push(made);
      return { status: 201, body: this.shown(made) };
    }
    const all = this.comments.filter((one) => one.pull === pull);
    const shown = (this.provider === 'gitea' ? all : this.page(all, search)).map((one) => this.shown(one));
    return { body: this.provider === 'bitbucket' ? { values: shown, pagelen: 50, page: 1 } : shown };
  }

  private bodyOf(sent: Sent): string {
    return this.provider === 'bitbucket' ? (sent.content as { raw: string }).raw : (sent.body as string);
  }

  private shown({ id, author, pull, body }: GivenComment): object {
    switch (this.provider) {
      case 'github':
      case 'gitea':
        return {
          ...{ id, body, user: { login: `user-${author}`, id: author }, created_at: TIME, updated_at: TIME },
          ...{ html_url: `https://host.example/agent-0/pull/${pull}#issuecomment-${id}` },
        };
      case 'gitlab':
        return {
          ...{ id, type: null, body, system: false, noteable_type: 'MergeRequest', noteable_iid: pull },
          ...{ author: { id: author, username: `user-${author}` }, created_at: TIME, resolvable: false },
        };
      case 'bitbucket':
        return {
          ...{ type: 'pullrequest_comment', id, deleted: false, created_on: TIME },
          content: { type: 'rendered', raw: body, markup: 'markdown', html: '' },
          user: { type: 'user', uuid: author === OURS ? UUID : `{${author}}`, nickname: `user-${author}` },
        };
    }
  }

  private page<T>(all: readonly T[], search: URLSearchParams): readonly T[] {
    const size = Number(search.get('per_page') ?? search.get('limit') ?? search.get('pagelen') ?? 20);
    const first = (Number(search.get('page') ?? 1) - 1) * size;
    return all.slice(first, first + size);
  }
}
