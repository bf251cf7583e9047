import { hash, randomBytes } from 'node:crypto';
import type { Actor } from './access';

/** What a program of a deployment may do: send runs to the tracing project of this name, and see the project. */
export interface ProgramActor extends Pick<Actor, 'tenantId'> {
  /** The id of the deployment stands for the key in logs and in the audit log. */
  readonly keyId: string;
  readonly project: string;
}

/** How the keys of programs begin. */
export const PROGRAM_KEY = 'fp_';

/** The keys of the programs that this process runs. A key is in memory only, and known until it is revoked. */
export class ProgramKeys {
  private readonly actors = new Map<string, ProgramActor>();

  /** Makes a key. */
  issue(actor: ProgramActor): string {
    const key = `${PROGRAM_KEY}${randomBytes(32).toString('base64url')}`;
    this.actors.set(printOf(key), actor);
    return key;
  }

  revoke(key: string): void {
    this.actors.delete(printOf(key));
  }

  /** Returns who sends a request with this key; undefined for any other text. */
  find(text: string): ProgramActor | undefined {
    return this.actors.get(printOf(text));
  }
}

/** What a key is found by: looking it up takes no time that depends on the key. */
function printOf(key: string): string {
  return hash('sha256', key, 'base64url');
}
