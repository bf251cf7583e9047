import { useNavigate, useSearch } from '@tanstack/react-router';

/** Parameters of an address; undefined leaves one out. */
export type Parameters = Readonly<Record<string, string | undefined>>;

/** The parameters of the address, and how some of them are changed: as a step of the history, or in its place. */
export function useAddress() {
  const search = useSearch({ strict: false }) as Parameters;
  const navigate = useNavigate();
  const change = (changed: Parameters, how: 'step' | 'replace' = 'step') =>
    void navigate({ to: '.', search: merged(changed), replace: how === 'replace', resetScroll: false });
  return { search, change };
}

/** For the `search` of a link: the parameters of the address with some of them changed. */
export function merged(changed: Parameters): never {
  return ((old: Parameters) => ({ ...old, ...changed })) as never;
}
