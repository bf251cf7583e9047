import { useQuery, useQueryClient } from '@tanstack/react-query';
import { beginToListen } from './changes';
import { answered, api, ApiError, type ConsoleSession } from './client';

const KEY = ['session'];

/** The session of this browser; null when nobody is signed in. */
export function useSession() {
  return useQuery({
    queryKey: KEY,
    queryFn: async () => {
      try {
        const session = await answered(api.GET('/v1/console/session'));
        await beginToListen();
        return session;
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: 60_000,
  });
}

/** Signs in and out; what was shown before goes with the session. */
export function useSigning() {
  const queries = useQueryClient();
  const become = (session: ConsoleSession | null) => {
    queries.setQueryData(KEY, session);
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
  };
  return {
    async signIn(body: { api_key: string } | { code: string }): Promise<ConsoleSession> {
      const session = await answered(api.POST('/v1/console/session', { body }));
      await beginToListen();
      become(session);
      return session;
    },
    async signOut(): Promise<void> {
      await answered(api.DELETE('/v1/console/session'));
      become(null);
    },
  };
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
