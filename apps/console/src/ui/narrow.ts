import { useSyncExternalStore } from 'react';

const NARROW = window.matchMedia('(max-width: 700px)');

function subscribe(changed: () => void): () => void {
  NARROW.addEventListener('change', changed);
  return () => NARROW.removeEventListener('change', changed);
}

/** True when the page is as narrow as a phone. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => NARROW.matches);
}
