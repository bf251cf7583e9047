import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { check, type Infer, list, object, optional, Problems, type Schema, str } from '@fairlead/schema';
import { DeliveryRefused } from './integration.errors';
import type { Provider } from './integration';

/** A branch or tag that was moved, from a delivery of a code host. */
interface Push {
  readonly repo_url: string;
  readonly ref: string;
  readonly repo_commit_sha: string;
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
  /** Header that is the same when a delivery is repeated; absent where the signed body is. */
  readonly id?: string;
  readonly pushes: (payload: unknown) => Push[];
}

const COMMIT = /^(?!0+$)[0-9a-f]{40}([0-9a-f]{24})?$/;
const hmac = (secret: string, body: Buffer) => createHmac('sha256', secret).update(body).digest('hex');
const prefixed = (secret: string, body: Buffer) => `sha256=${hmac(secret, body)}`;

const gitHubPush = object({ ref: str(), after: str(), repository: object({ html_url: str() }) });
const gitLabPush = object({ ref: str(), after: str(), project: object({ web_url: str() }) });
const bitbucketPush = object({
  push: object({
    changes: list(object({ new: optional(object({ type: str(), name: str(), target: object({ hash: str() }) })) })),
  }),
  repository: object({ links: object({ html: object({ href: str() }) }) }),
});

const RULES: Readonly<Record<Provider, Rules>> = {
  github: {
    proof: { header: 'x-hub-signature-256', expected: prefixed },
    event: { header: 'x-github-event', push: ['push'] },
    pushes: (payload) => one(read(gitHubPush, payload)),
  },
  gitea: {
    proof: { header: 'x-gitea-signature', expected: hmac },
    event: { header: 'x-gitea-event', push: ['push'] },
    pushes: (payload) => one(read(gitHubPush, payload)),
  },
  gitlab: {
    proof: { header: 'x-gitlab-token', expected: (secret) => secret },
    event: { header: 'x-gitlab-event', push: ['Push Hook', 'Tag Push Hook'] },
    id: 'idempotency-key',
    pushes: (payload) => {
      const { ref, after, project } = read(gitLabPush, payload);
      return moved({ repo_url: project.web_url, ref, repo_commit_sha: after });
    },
  },
  bitbucket: {
    proof: { header: 'x-hub-signature', expected: prefixed },
    event: { header: 'x-event-key', push: ['repo:push'] },
    pushes: (payload) => {
      const { push, repository } = read(bitbucketPush, payload);
      return push.changes.flatMap(({ new: now }) => {
        if (!now) return [];
        const ref = `refs/${now.type === 'tag' ? 'tags' : 'heads'}/${now.name}`;
        return moved({ repo_url: repository.links.html.href, ref, repo_commit_sha: now.target.hash });
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

/** Returns an identifier of a delivery within its integration. Repetitions have the same one. */
export function deliveryId(provider: Provider, { headers, body }: Delivery): string {
  const { id } = RULES[provider];
  return (id && single(headers[id])) ?? digest(body).toString('hex');
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

function one({ ref, after, repository }: Infer<typeof gitHubPush>): Push[] {
  return moved({ repo_url: repository.html_url, ref, repo_commit_sha: after });
}

/** Returns a push, or nothing for a deletion, which names no commit or one of zeros. */
function moved(push: Push): Push[] {
  return COMMIT.test(push.repo_commit_sha) && /^refs\/(heads|tags)\//.test(push.ref) ? [push] : [];
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
