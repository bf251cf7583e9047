import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { anyJson, check, list, object, optional, Problems, type Schema, str } from '@fairlead/schema';
import { cut, subjectOf, textOf } from '../hosts/host-text';
import { DeliveryRefused } from '../integration/integration.errors';
import type { Provider } from '../integration/integration';
import { isSkipped } from './skip';

/** A branch or tag that was moved, from a delivery of a code host. Texts are cut to what is kept. */
export interface Push {
  readonly repo_url: string;
  /** The host's own id of the repository, which a new name does not change. */
  readonly repository_id: string | null;
  readonly ref: string;
  /** Commit before the push; null when the branch is new, or the host does not say. */
  readonly before: string | null;
  readonly commit: string;
  readonly pusher: string | null;
  readonly author: string | null;
  /** First line of the message of the commit. */
  readonly subject: string | null;
  /** True when the message of the commit says that it is not to be built. */
  readonly skipped: boolean;
}

/** A delivery as it arrived: names of headers in lower case, the body byte for byte. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface Rules {
  /** Header with the proof of the sender, and its expected value. */
  readonly proof: { readonly header: string; readonly expected: (secret: string, body: Buffer) => string };
  readonly event: { readonly header: string; readonly push: readonly string[] };
  /** Headers with the id of a delivery, which is the same when the host repeats it; the first that is there counts. */
  readonly ids: readonly string[];
  readonly pushes: (payload: unknown) => Push[];
}

const COMMIT = /^(?!0+$)[0-9a-f]{40}([0-9a-f]{24})?$/;
const LONGEST_REF = 1000;
const LONGEST_URL = 2048;
const hmac = (secret: string, body: Buffer) => createHmac('sha256', secret).update(body).digest('hex');
const prefixed = (secret: string, body: Buffer) => `sha256=${hmac(secret, body)}`;

/** Reads the members beside the push itself; those that do not have the form that the host documents are left out. */
const loose = optional(anyJson());
const gitHubPush = object({
  ref: str(),
  before: loose,
  after: str(),
  repository: object({ html_url: str(), id: loose }),
  head_commit: loose,
  pusher: loose,
  sender: loose,
});
const gitLabPush = object({
  ref: str(),
  before: loose,
  after: str(),
  project: object({ web_url: str(), id: loose }),
  commits: loose,
  user_username: loose,
  user_name: loose,
  push_options: loose,
});
const bitbucketPush = object({
  push: object({
    changes: list(
      object({
        old: loose,
        new: optional(
          object({ type: str(), name: str(), target: object({ hash: str(), message: loose, author: loose }) }),
        ),
      }),
    ),
  }),
  repository: object({ uuid: loose, links: object({ html: object({ href: str() }) }) }),
  actor: loose,
});

const RULES: Readonly<Record<Provider, Rules>> = {
  github: {
    proof: { header: 'x-hub-signature-256', expected: prefixed },
    event: { header: 'x-github-event', push: ['push'] },
    ids: ['x-github-delivery'],
    pushes: (payload) => gitHubLike('github', payload),
  },
  gitea: {
    proof: { header: 'x-gitea-signature', expected: hmac },
    event: { header: 'x-gitea-event', push: ['push'] },
    ids: ['x-gitea-delivery', 'x-forgejo-delivery', 'x-gogs-delivery'],
    pushes: (payload) => gitHubLike('gitea', payload),
  },
  gitlab: {
    proof: { header: 'x-gitlab-token', expected: (secret) => secret },
    event: { header: 'x-gitlab-event', push: ['Push Hook', 'Tag Push Hook'] },
    // Not x-gitlab-event-uuid, which events share that other webhooks have triggered.
    ids: ['idempotency-key'],
    pushes: (payload) => {
      const { ref, before, after, project, ...sent } = read(gitLabPush, payload);
      const commits = Array.isArray(sent.commits) ? (sent.commits as unknown[]) : [];
      const commit = commits.map(membersOf).find(({ id }) => id === after);
      const option = membersOf(membersOf(sent.push_options).ci).skip;
      return moved('gitlab', {
        ...{ repo_url: project.web_url, repository_id: idOf(project.id), ref, before: commitOf(before), commit: after },
        ...{ pusher: textOf(sent.user_username) ?? textOf(sent.user_name), message: messageOf(commit?.message) },
        ...{ author: textOf(membersOf(commit?.author).name), asked: option === true || option === 'true' },
      });
    },
  },
  bitbucket: {
    proof: { header: 'x-hub-signature', expected: prefixed },
    event: { header: 'x-event-key', push: ['repo:push'] },
    // Not x-hook-uuid, which is the id of the webhook.
    ids: ['x-request-uuid'],
    pushes: (payload) => {
      const { push, repository, actor } = read(bitbucketPush, payload);
      const { nickname, display_name } = membersOf(actor);
      return push.changes.flatMap(({ old, new: now }) => {
        if (!now) return [];
        const author = membersOf(now.target.author);
        return moved('bitbucket', {
          ...{ repo_url: repository.links.html.href, repository_id: idOf(repository.uuid) },
          ...{ ref: `refs/${now.type === 'tag' ? 'tags' : 'heads'}/${now.name}`, commit: now.target.hash },
          ...{ before: commitOf(membersOf(membersOf(old).target).hash), message: messageOf(now.target.message) },
          pusher: textOf(nickname) ?? textOf(display_name),
          author: textOf(membersOf(author.user).display_name) ?? textOf(author.raw),
        });
      });
    },
  },
};

/**
 * Checks in constant time that the sender of a delivery knows the secret.
 * @throws DeliveryRefused (401)
 */
export function checkProof(provider: Provider, { headers, body }: Delivery, secret: string): void {
  const { header, expected } = RULES[provider].proof;
  const wanted = digest(expected(secret, body));
  const given = digest(single(headers[header]) ?? '');
  if (!timingSafeEqual(wanted, given)) throw new DeliveryRefused(401, 'The signature of the delivery is not valid.');
}

/** The id that the host gave a delivery, null without one, and a key that repetitions share. */
export function identityOf(provider: Provider, { headers, body }: Delivery): { id: string | null; key: string } {
  const id = RULES[provider].ids.map((name) => single(headers[name])?.trim()).find(Boolean) ?? null;
  const key = id === null ? `body ${digest(body).toString('hex')}` : `id ${digest(id).toString('hex')}`;
  return { id: id && cut(id), key };
}

/** The name of the event that a delivery reports; null when it says none. */
export function eventOf(provider: Provider, { headers }: Delivery): string | null {
  return textOf(single(headers[RULES[provider].event.header]));
}

/**
 * Returns the branches and tags that a delivery reports as moved; none for deletions and other events.
 * @throws DeliveryRefused (400) when it is a push that cannot be read.
 */
export function pushes(provider: Provider, { headers, body }: Delivery): Push[] {
  const { event, pushes: readPushes } = RULES[provider];
  if (!event.push.includes(single(headers[event.header]) ?? '')) return [];
  return readPushes(parse(body));
}

function gitHubLike(provider: Provider, payload: unknown): Push[] {
  const { ref, before, after, repository, ...sent } = read(gitHubPush, payload);
  const head = membersOf(sent.head_commit);
  const { name, login } = membersOf(sent.pusher);
  return moved(provider, {
    ...{ repo_url: repository.html_url, repository_id: idOf(repository.id), ref, before: commitOf(before) },
    ...{ commit: after, pusher: textOf(login) ?? textOf(name) ?? textOf(membersOf(sent.sender).login) },
    ...{
      author: textOf(membersOf(head.author).name),
      message: head.id === after ? messageOf(head.message) : undefined,
    },
  });
}

interface Moved extends Omit<Push, 'subject' | 'skipped'> {
  readonly message: string | undefined;
  /** True when whoever pushed asked the host to skip its CI. */
  readonly asked?: boolean;
}

/** Returns a push, or nothing for a deletion, which names no commit or one of zeros. */
function moved(provider: Provider, { message, asked = false, ...push }: Moved): Push[] {
  if (!COMMIT.test(push.commit) || !/^refs\/(heads|tags)\//.test(push.ref)) return [];
  if (push.ref.length > LONGEST_REF || push.repo_url.length > LONGEST_URL) return [];
  const skipped = asked || (message !== undefined && isSkipped(provider, message));
  return [{ ...push, subject: subjectOf(message), skipped }];
}

function idOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : textOf(value);
}

function commitOf(value: unknown): string | null {
  return typeof value === 'string' && COMMIT.test(value) ? value : null;
}

function messageOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function read<T>(schema: Schema<T>, payload: unknown): T {
  const problems = new Problems();
  const value = check(schema, payload, [], problems);
  if (problems.total > 0) throw new DeliveryRefused(400, 'The delivery is not a push as the provider documents it.');
  return value as T;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new DeliveryRefused(400, 'The delivery is not JSON: set the content type application/json at the code host.');
  }
}

function digest(value: string | Buffer): Buffer {
  return createHash('sha256').update(value).digest();
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
