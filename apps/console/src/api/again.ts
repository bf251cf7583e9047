import { ask } from '../ui/ask';
import { plain } from '../ui/format';
import type { ConsoleSession } from './client';
import type { Held } from './held';

/** A session that began where another one had ended. */
interface Moved {
  readonly before: ConsoleSession;
  readonly now: ConsoleSession;
  /** The workspace of the page, `-` for that of the session. */
  readonly workspace: string;
  /** Requests that wait and would change or reveal something. */
  readonly writes: readonly Held[];
  /** True when a form holds something. */
  readonly typed: boolean;
}

/** True when a page is still one of the same workspace. */
export function isSameWorkspace({ before, now, workspace }: Pick<Moved, 'before' | 'now' | 'workspace'>): boolean {
  return workspace === '-'
    ? now.workspace_id === before.workspace_id
    : now.workspaces.some(({ id }) => id === workspace);
}

/**
 * Sends what was refused again, when the key is the same and it deletes and reveals nothing; else a person decides.
 * False: the person wants to sign in with another key.
 */
export async function sendAgain(moved: Moved): Promise<boolean> {
  const { before, now, writes } = moved;
  if (!isSameWorkspace(moved)) return goElsewhere(moved);
  const isSameKey = now.key.id === before.key.id;
  for (const one of writes)
    one.decide((isSameKey && !one.grave) || (await mayBeSent(one, isSameKey ? undefined : now)));
  return true;
}

async function mayBeSent(one: Held, now: ConsoleSession | undefined): Promise<boolean> {
  const key = now ? ` You are signed in with another key now, ${nameOf(now.key)}.` : '';
  const answer = await ask({
    title: 'Send it again?',
    text: `${what([one])} was not done, because the session had ended.${key}`,
    answers: { drop: 'Do not send it', send: 'Send it now' },
    danger: one.grave,
  });
  return answer === 'send';
}

async function goElsewhere({ before, now, workspace, writes, typed }: Moved): Promise<boolean> {
  if (writes.length === 0 && !typed) return true;
  const [from, to] = [workspaceOf(before, workspace), workspaceOf(now, '-')];
  // A request of a page that names its workspace would be refused once more.
  const isSendable = writes.length > 0 && workspace === '-';
  const answer = await ask<string>({
    title: 'This is another workspace',
    text: `This page was opened in ${from}. The key ${nameOf(now.key)} is one of ${to}.${
      writes.length > 0 ? ` ${what(writes)} was not done, because the session had ended.` : ''
    }`,
    answers: isSendable
      ? { key: 'Use another key', drop: 'Go on without sending it', go: `Send it in ${to}` }
      : { key: 'Use another key', go: `Go on in ${to}` },
    danger: writes.some(({ grave }) => grave),
  });
  if (answer === 'key') return false;
  for (const one of writes) one.decide(isSendable && answer === 'go');
  return true;
}

function what(requests: readonly Held[]): string {
  return requests
    .map(({ title, method, path }) => (title === undefined ? `${method} ${path}` : `“${title}”`))
    .join(', ');
}

function nameOf({ description, short_key }: ConsoleSession['key']): string {
  return plain(description || short_key);
}

function workspaceOf(session: ConsoleSession, workspace: string): string {
  const id = workspace === '-' ? session.workspace_id : workspace;
  return `“${plain(session.workspaces.find((one) => one.id === id)?.display_name ?? id)}”`;
}
