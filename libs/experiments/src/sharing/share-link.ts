import type { DomainEvent, Model } from '@fairlead/eventing';

/** Members that a link can leave out of the things that it shows. */
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

/** Whoever has the token may read until the link expires. */
export interface ShareLink {
  readonly id: string;
  readonly kind: (typeof LINK_KINDS)[number];
  /** Dataset of a comparison; null for a run. */
  readonly dataset_id: string | null;
  /** The experiments of a comparison, the baseline first; the session of a run. */
  readonly experiments: readonly string[];
  readonly run_id: string | null;
  readonly hidden: readonly Hideable[];
  readonly expires_at: string;
  /** Digest by which the token is recognised. The token itself is told once, and kept nowhere. */
  readonly digest: string;
}

/** A comparison or a run can be read by whoever has the token, but for what is hidden. */
type ShareLinkCreated = DomainEvent<'ShareLinkCreated', ShareLink>;
/** The token is good for nothing any more. */
type ShareLinkDeleted = DomainEvent<'ShareLinkDeleted', { readonly id: string }>;

export type ShareLinkEvent = ShareLinkCreated | ShareLinkDeleted;

/** Null before the link is made, and when it has been deleted. */
type ShareLinkState = Pick<ShareLink, 'kind' | 'hidden' | 'expires_at'> | null;

export const shareLinkModel: Model<ShareLinkState, ShareLinkEvent> = {
  initial: null,
  evolve(_, event) {
    if (event.type === 'ShareLinkDeleted') return null;
    const { kind, hidden, expires_at } = event.data;
    return { kind, hidden, expires_at };
  },
};

export function createLink(data: ShareLink): () => ShareLinkEvent[] {
  return () => [{ type: 'ShareLinkCreated', data }];
}

/** Ends a link; one that is gone stays so. */
export function deleteLink(id: string): (state: ShareLinkState) => ShareLinkEvent[] {
  return (state) => (state ? [{ type: 'ShareLinkDeleted', data: { id } }] : []);
}
