import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { isUnsaved } from '../ui/dirty';
import { isSameWorkspace, sendAgain } from './again';
import { beginToListen } from './changes';
import { answered, api, ApiError, type ConsoleSession, pageWorkspace } from './client';
import { closeSession, endSession, hasEnded, heldRequests, openSession } from './held';

const KEY = ['session'];

/** The session of this browser, or the last one while nobody has signed in again; null when nobody is signed in. */
export function useSession() {
  return useQuery({
    queryKey: KEY,
    queryFn: async ({ client }): Promise<ConsoleSession | null> => {
      const before = client.getQueryData<ConsoleSession | null>(KEY) ?? null;
      try {
        const session = await answered(api.GET('/v1/console/session'));
        await beginToListen();
        if (before === null) openSession();
        // Somebody signed in in another page of this browser.
        else if (hasEnded()) setTimeout(() => void settle(client, before, session));
        return session;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
        return endSession() ? before : null;
      }
    },
    staleTime: 60_000,
  });
}

/** Signs in and out; what was shown before goes with the session that one signs out of. */
export function useSigning() {
  const queries = useQueryClient();
  const leave = () => {
    closeSession();
    queries.setQueryData(KEY, null);
    queries.removeQueries({ predicate: isOfSession });
  };
  return {
    async signIn(body: { api_key: string } | { code: string }): Promise<void> {
      const before = queries.getQueryData<ConsoleSession | null>(KEY) ?? null;
      const session = await answered(api.POST('/v1/console/session', { body }));
      await beginToListen();
      // An answer that is under way is of the time before.
      await queries.cancelQueries({ queryKey: KEY });
      queries.setQueryData(KEY, session);
      if (before !== null && hasEnded()) return settle(queries, before, session);
      openSession();
      queries.removeQueries({ predicate: isOfSession });
    },
    async signOut(): Promise<void> {
      await answered(api.DELETE('/v1/console/session'));
      leave();
    },
    /** Forgets a session that has ended, and all that the page shows. */
    leave,
  };
}

/** Goes on after somebody has signed in again: what was refused is sent again, where that is what a person wants. */
async function settle(queries: QueryClient, before: ConsoleSession, now: ConsoleSession): Promise<void> {
  const workspace = pageWorkspace();
  openSession();
  const waiting = heldRequests();
  const writes = waiting.filter(({ reads }) => !reads);
  if (!(await sendAgain({ before, now, workspace, writes, typed: isUnsaved() }))) {
    await answered(api.DELETE('/v1/console/session')).catch(() => undefined);
    queries.setQueryData(KEY, before);
    endSession();
    return;
  }
  for (const one of waiting) if (one.reads) one.decide(true);
  // Of another workspace, nothing stays.
  if (isSameWorkspace({ before, now, workspace })) await queries.invalidateQueries({ predicate: isOfSession });
  else await queries.resetQueries({ predicate: isOfSession });
}

function isOfSession({ queryKey }: { queryKey: readonly unknown[] }): boolean {
  return queryKey[0] !== KEY[0];
}

/** True when the key of this session has a scope, or one that includes it. */
export function useMay(scope: 'read' | 'write' | 'admin' | 'invoke'): boolean {
  const scopes: readonly string[] = useSession().data?.scopes ?? [];
  const including = {
    read: ['read', 'write', 'admin'],
    write: ['write', 'admin'],
    admin: ['admin'],
    invoke: ['invoke', 'write', 'admin'],
  }[scope];
  return including.some((one) => scopes.includes(one));
}
