import { int, list, object, optional, type Schema, str } from '@fairlead/schema';
import {
  encoded,
  type Listed,
  type Order,
  type Page,
  type Path,
  type PullComment,
  question,
  type Reporting,
} from './dialect';

/** Items of a page, and the most pages of a list that are read. */
const PER_PAGE = 50;
const MOST_PAGES = 100;

/** A list by numbers of pages; it ends with a page that is not full. */
function numbered<A, T>(
  at: string,
  size: string,
  schema: Schema<A>,
  items: (answer: A) => readonly unknown[],
  kept: (answer: A) => readonly T[],
): Listed<T> {
  const pageAt = (number: number) => `${at}${at.includes('?') ? '&' : '?'}${size}=${PER_PAGE}&page=${number}`;
  const page = (address: string, number: number) =>
    question(address, schema, (answer): Page<T> => {
      const isFull = items(answer).length >= PER_PAGE && number < MOST_PAGES;
      return { items: kept(answer), next: isFull ? pageAt(number + 1) : undefined };
    });
  return { first: pageAt(1), page: page };
}

const order = <A, T>(
  method: Order<T>['method'],
  at: string,
  body: object | undefined,
  schema: Schema<A>,
  read: (answer: A) => T,
) => ({ ...question(at, schema, read), method, ...(body && { body }) });
/** An order whose answer says nothing that is needed. */
const done = (method: Order<unknown>['method'], at: string, body?: object): Order<unknown> => ({
  ...{ method, at, read: () => undefined },
  ...(body && { body }),
});

const author = optional(object({ id: int() }));
const gitComment = object({ id: int(), body: optional(str({ anyText: true })), user: author });
const toComment = ({ id, body = '', user }: { id: number; body?: string; user?: { id: number } }): PullComment => ({
  ...{ id: String(id), author: user ? String(user.id) : null, body },
});
const repo = (path: Path) => `/repos/${encoded(path)}`;

/** GitHub and Gitea, whose pull requests are issues. */
const ofIssues: Pick<Reporting, 'status' | 'comment' | 'edit' | 'remove'> = {
  status: (path, commit, { state, context, description, url }) =>
    done('POST', `${repo(path)}/statuses/${commit}`, {
      // Neither host has a state for a commit on which nobody will decide.
      state: state === 'skipped' ? 'error' : state,
      ...{ context, description, ...(url !== undefined && { target_url: url }) },
    }),
  comment: (path, pull, body) => ({
    ...order('POST', `${repo(path)}/issues/${pull}/comments`, { body }, gitComment, toComment),
    once: true,
  }),
  edit: (path, _, id, body) => done('PATCH', `${repo(path)}/issues/comments/${id}`, { body }),
  remove: (path, _, id) => done('DELETE', `${repo(path)}/issues/comments/${id}`),
};

const gitHubPulls = list(object({ number: int(), state: str() }));
export const gitHubReporting: Reporting = {
  ...ofIssues,
  pulls: (path, commit) =>
    numbered(`${repo(path)}/commits/${commit}/pulls`, 'per_page', gitHubPulls, same, (pulls) =>
      pulls.filter(({ state }) => state === 'open').map(({ number }) => number),
    ),
  comments: (path, pull) =>
    numbered(`${repo(path)}/issues/${pull}/comments`, 'per_page', list(gitComment), same, (all) => all.map(toComment)),
};

const giteaPulls = list(object({ number: int(), head: object({ sha: str() }) }));
export const giteaReporting: Reporting = {
  ...ofIssues,
  // For a commit, the host names the pull request that merged it, and no open one.
  pulls: (path, commit) =>
    numbered(`${repo(path)}/pulls?state=open`, 'limit', giteaPulls, same, (pulls) =>
      pulls.filter(({ head }) => head.sha === commit).map(({ number }) => number),
    ),
  comments: (path, pull) => ({
    first: `${repo(path)}/issues/${pull}/comments`,
    page: (at) => question(at, list(gitComment), (all) => ({ items: all.map(toComment), next: undefined })),
  }),
};

const mergeRequests = list(object({ iid: int(), state: str() }));
const gitLabNote = object({ id: int(), body: optional(str({ anyText: true })), author });
const toNote = ({ author: user, ...note }: { id: number; body?: string; author?: { id: number } }) =>
  toComment({ ...note, user });
const project = (path: Path) => `/projects/${encodeURIComponent(path.join('/'))}`;
const notes = (path: Path, pull: number) => `${project(path)}/merge_requests/${pull}/notes`;
const GITLAB_STATES = { pending: 'pending', success: 'success', failure: 'failed', skipped: 'canceled' } as const;

export const gitLabReporting: Reporting = {
  status: (path, commit, { state, context, description, url }) => ({
    ...done('POST', `${project(path)}/statuses/${commit}`, {
      ...{ state: GITLAB_STATES[state], name: context, description, ...(url !== undefined && { target_url: url }) },
    }),
    // A status that is pending cannot become pending.
    ...(state === 'pending' && { accepts: [400] }),
  }),
  pulls: (path, commit) =>
    numbered(
      `${project(path)}/repository/commits/${commit}/merge_requests?state=opened`,
      ...(['per_page', mergeRequests, same] as const),
      (found) => found.filter(({ state }) => state === 'opened').map(({ iid }) => iid),
    ),
  comments: (path, pull) =>
    numbered(`${notes(path, pull)}?sort=asc&order_by=created_at`, 'per_page', list(gitLabNote), same, (all) =>
      all.map(toNote),
    ),
  comment: (path, pull, body) => ({ ...order('POST', notes(path, pull), { body }, gitLabNote, toNote), once: true }),
  edit: (path, pull, id, body) => done('PUT', `${notes(path, pull)}/${id}`, { body }),
  remove: (path, pull, id) => done('DELETE', `${notes(path, pull)}/${id}`),
};

const bitbucketPulls = object({
  values: list(object({ id: int(), source: object({ commit: optional(object({ hash: str() })) }) })),
});
const bitbucketComment = object({
  id: int(),
  content: object({ raw: optional(str({ anyText: true })) }),
  user: optional(object({ uuid: optional(str()) })),
});
const toBitbucketComment = ({
  id,
  content,
  user,
}: {
  id: number;
  content: { raw?: string };
  user?: { uuid?: string };
}): PullComment => ({ id: String(id), author: user?.uuid ?? null, body: content.raw ?? '' });
const bitbucketRepo = (path: Path) => `/repositories/${encoded(path)}`;
const bitbucketComments = (path: Path, pull: number) => `${bitbucketRepo(path)}/pullrequests/${pull}/comments`;
const BITBUCKET_STATES = {
  ...{ pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', skipped: 'STOPPED' },
} as const;
/** Characters of a commit id that Bitbucket tells of a pull request, at least. */
const SHORTEST_COMMIT = 12;

export const bitbucketReporting: Reporting = {
  status: (path, commit, { state, context, key, description, url, commitUrl, branch }) =>
    done('POST', `${bitbucketRepo(path)}/commit/${commit}/statuses/build`, {
      ...{ key, name: context, state: BITBUCKET_STATES[state], description },
      // Without an address the host refuses it; without a branch it shows it at no pull request.
      ...{ url: url ?? commitUrl, ...(branch !== undefined && { refname: branch }) },
    }),
  // The list by commit is there only in workspaces that have installed an app for it.
  pulls: (path, commit) =>
    numbered(
      `${bitbucketRepo(path)}/pullrequests?state=OPEN`,
      ...(['pagelen', bitbucketPulls] as const),
      ({ values }) => values,
      ({ values }) =>
        values
          .filter(({ source: { commit: head } }) => {
            return head !== undefined && head.hash.length >= SHORTEST_COMMIT && commit.startsWith(head.hash);
          })
          .map(({ id }) => id),
    ),
  comments: (path, pull) =>
    numbered(
      bitbucketComments(path, pull),
      ...(['pagelen', object({ values: list(bitbucketComment) })] as const),
      ({ values }) => values,
      ({ values }) => values.map(toBitbucketComment),
    ),
  comment: (path, pull, body) => ({
    ...order('POST', bitbucketComments(path, pull), { content: { raw: body } }, bitbucketComment, toBitbucketComment),
    once: true,
  }),
  edit: (path, pull, id, body) => done('PUT', `${bitbucketComments(path, pull)}/${id}`, { content: { raw: body } }),
  remove: (path, pull, id) => done('DELETE', `${bitbucketComments(path, pull)}/${id}`),
};

function same<T>(answer: readonly T[]): readonly T[] {
  return answer;
}
