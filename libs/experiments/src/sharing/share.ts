import type { DomainEvent, Model, Sealed } from '@fairlead/eventing';

/** Whoever has the token may read from now on. */
interface Sharing {
  /** Id of the run, or of the dataset. */
  readonly id: string;
  /** The session of the run; null for a dataset. */
  readonly session_id: string | null;
  readonly token: Sealed;
  /** Digest by which the token is recognised. */
  readonly digest: string;
}

/** A run can be read by whoever has the token, with all runs below it. */
type RunShared = DomainEvent<'RunShared', Sharing>;
/** A dataset can be read by whoever has the token: its newest examples, and its experiments with their statistics. */
type DatasetShared = DomainEvent<'DatasetShared', Sharing>;
/** The token is good for nothing any more, and is not given out again. */
type RunUnshared = DomainEvent<'RunUnshared', { readonly id: string }>;
type DatasetUnshared = DomainEvent<'DatasetUnshared', { readonly id: string }>;

export type ShareEvent = RunShared | DatasetShared | RunUnshared | DatasetUnshared;
export type ShareKind = 'run' | 'dataset';

/** The token that lets its holder read, null while there is none. */
type ShareState = { readonly token: Sealed; readonly since: string } | null;

export const shareModel: Model<ShareState, ShareEvent> = {
  initial: null,
  evolve(_, event) {
    if (event.type === 'RunUnshared' || event.type === 'DatasetUnshared') return null;
    return { token: event.data.token, since: event.time };
  },
};

/**
 * Shares a run or a dataset that has been there since `created` (ISO 8601); what is shared already keeps its token. What
 * was shared under the same id before that time is something else, which has been deleted.
 */
export function share(kind: ShareKind, data: Sharing, created: string): (state: ShareState) => ShareEvent[] {
  return (state) => {
    if (state && Date.parse(state.since) >= Date.parse(created)) return [];
    return [{ type: kind === 'run' ? 'RunShared' : 'DatasetShared', data }];
  };
}

/** Ends the sharing; what is not shared stays so. */
export function unshare(kind: ShareKind, id: string): (state: ShareState) => ShareEvent[] {
  return (state) => (state ? [{ type: kind === 'run' ? 'RunUnshared' : 'DatasetUnshared', data: { id } }] : []);
}
