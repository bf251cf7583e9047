import type { DomainEvent, Model, Sealed } from '@fairlead/eventing';

/** Members that a share with an end can leave out of the things that it shows. */
export const HIDEABLE = [
  'inputs',
  'reference_outputs',
  'outputs',
  'errors',
  'metadata',
  'feedback',
  'comments',
] as const;
export type Hideable = (typeof HIDEABLE)[number];
export const LINK_KINDS = ['comparison', 'run'] as const;

/** Things that the holder of a token may read. */
interface ShareScope {
  readonly kind: (typeof LINK_KINDS)[number] | 'dataset';
  /** The shared dataset, or that of a comparison; null for a run. */
  readonly dataset_id: string | null;
  /** The experiments of a comparison, the baseline first; the session of a run. */
  readonly experiments: readonly string[];
  readonly run_id: string | null;
  readonly hidden: readonly Hideable[];
}

/** A share that ends by itself, which people know as a link. Its token is answered once and never stored. */
export interface ShareLink extends ShareScope {
  readonly id: string;
  readonly kind: (typeof LINK_KINDS)[number];
  readonly expires_at: string;
  readonly digest: string;
}

interface LastingShare {
  readonly id: string;
  /** The session of the run; null for a dataset. */
  readonly session_id: string | null;
  readonly token: Sealed;
  /** Digest by which the token is recognised. */
  readonly digest: string;
}

/** A run can be read by whoever has the token, with all runs below it. */
type RunShared = DomainEvent<'RunShared', LastingShare>;
/** A dataset can be read by whoever has the token: its newest examples, and its experiments with their statistics. */
type DatasetShared = DomainEvent<'DatasetShared', LastingShare>;
/** A comparison or a run can be read by whoever has the token until a time, but for what is hidden. */
type ShareLinkCreated = DomainEvent<'ShareLinkCreated', ShareLink>;
type ShareBegun = RunShared | DatasetShared | ShareLinkCreated;
/** The token gives nothing any more, and is not given out again. */
type ShareEnded = DomainEvent<'RunUnshared' | 'DatasetUnshared' | 'ShareLinkDeleted', { readonly id: string }>;

export type ShareEvent = ShareBegun | ShareEnded;

/** A share that nobody has ended. */
export interface Share {
  /** Id of the run, the dataset or the link. */
  readonly id: string;
  readonly scope: ShareScope;
  readonly since: string;
  /** Time at which it ends by itself, null for one that lasts. */
  readonly until: string | null;
  /** Null for one that ends by itself. */
  readonly token: Sealed | null;
}

/** Null before the share begins, and once somebody has ended it. */
type ShareState = Share | null;

/** Shares of both categories: `share` for those that last, `shareLink` for those that end by themselves. */
export const shareModel: Model<ShareState, ShareEvent> = {
  initial: null,
  evolve(_, event) {
    const since = event.time;
    if (event.type === 'ShareLinkCreated') {
      const { id, kind, dataset_id, experiments, run_id, hidden, expires_at: until } = event.data;
      return { id, scope: { kind, dataset_id, experiments, run_id, hidden }, since, until, token: null };
    }
    if (event.type !== 'RunShared' && event.type !== 'DatasetShared') return null;
    const { id, session_id, token } = event.data;
    const scope: ShareScope =
      event.type === 'RunShared'
        ? { kind: 'run', dataset_id: null, experiments: session_id ? [session_id] : [], run_id: id, hidden: [] }
        : { kind: 'dataset', dataset_id: id, experiments: [], run_id: null, hidden: [] };
    return { id, scope, since, until: null, token };
  },
};

/**
 * Begins a share of something that has been there since `created` (ISO 8601). One that began since stays as it is; one
 * that began before is of something else that had the same id and has been deleted.
 */
export function beginShare(begun: ShareBegun, created: string): (state: ShareState) => ShareEvent[] {
  return (state) => (state && Date.parse(state.since) >= Date.parse(created) ? [] : [begun]);
}

export function endShare(state: ShareState): ShareEvent[] {
  if (!state) return [];
  const { id, scope, until } = state;
  if (until !== null) return [{ type: 'ShareLinkDeleted', data: { id } }];
  return [{ type: scope.kind === 'run' ? 'RunUnshared' : 'DatasetUnshared', data: { id } }];
}
