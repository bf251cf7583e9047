import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { follow, isStale } from '../../api/changes';
import { hasEnded } from '../../api/held';
import css from './shell.module.css';

/** Keeps what pages show as it is in the service; says so where the service cannot be reached. */
export function Live({ workspace }: { workspace: string }) {
  const queries = useQueryClient();
  const [lost, setLost] = useState<number>();
  useEffect(() => {
    const left = new AbortController();
    const stale = new Set<string>();
    let busy = false;
    // One after the other: an answer that takes longer than changes follow each other arrives all the same.
    const refresh = async () => {
      if (busy) return;
      busy = true;
      while (stale.size > 0 && !left.signal.aborted) {
        const names = new Set(stale);
        stale.clear();
        const refetchType = document.visibilityState === 'visible' ? 'active' : 'none';
        const predicate = ({ queryKey }: { queryKey: readonly unknown[] }) => isStale(names, queryKey);
        await queries.invalidateQueries({ predicate, refetchType }).catch(() => undefined);
      }
      busy = false;
    };
    follow(
      workspace,
      ({ stale: names, lost: since, ended }) => {
        setLost(ended ? undefined : since);
        // Whether nobody is signed in, or somebody is again, is for the session to say.
        if (ended || hasEnded()) void queries.invalidateQueries({ queryKey: ['session'] });
        for (const name of names) stale.add(name);
        void refresh();
      },
      left.signal,
    );
    return () => left.abort();
  }, [workspace, queries]);
  return (
    <div role="status">
      {lost !== undefined && (
        <p className={css.lost}>
          The service cannot be reached. What you see is as it was at {new Date(lost).toLocaleTimeString('en-GB')}.
        </p>
      )}
    </div>
  );
}
