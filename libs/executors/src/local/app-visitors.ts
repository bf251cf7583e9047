import { hash, randomBytes } from 'node:crypto';

/** Time for which a link opens the pages of a deployment, and for which the browser that used it may see them (ms). */
export const LINK_MS = 60_000;
export const VISIT_MS = 60 * 60_000;
/** Links, and browsers, at a time; the oldest gives way. */
const MOST = 200;

interface Admitted {
  readonly deploymentId: string;
  readonly until: number;
}

/**
 * The browsers that may see the pages of deployments. A browser cannot send a key: whoever has one makes a link that works
 * once. All of it is in memory, so that it ends with the process.
 */
export class AppVisitors {
  private readonly links = new Map<string, Admitted>();
  private readonly visitors = new Map<string, Admitted>();

  constructor(private readonly now: () => number = Date.now) {}

  invite(deploymentId: string): string {
    return add(this.links, { deploymentId, until: this.now() + LINK_MS });
  }

  /** Uses the code of a link up; answers what its browser is known by, undefined when the code is none of this deployment. */
  admit(deploymentId: string, code: string): string | undefined {
    const link = this.links.get(printOf(code));
    if (!link || link.deploymentId !== deploymentId) return undefined;
    this.links.delete(printOf(code));
    return link.until > this.now() ? add(this.visitors, { ...link, until: this.now() + VISIT_MS }) : undefined;
  }

  knows(deploymentId: string, token: string): boolean {
    const visit = this.visitors.get(printOf(token));
    return visit?.deploymentId === deploymentId && visit.until > this.now();
  }
}

/** Adds under a new secret of 192 bits, which it returns. */
function add(map: Map<string, Admitted>, admitted: Admitted): string {
  const text = randomBytes(24).toString('base64url');
  map.set(printOf(text), admitted);
  if (map.size > MOST) map.delete(map.keys().next().value!);
  return text;
}

/** Digest under which a secret is looked up: the time of the lookup does not depend on the secret. */
function printOf(text: string): string {
  return hash('sha256', text, 'base64url');
}
