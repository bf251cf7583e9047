import {
  type DeploymentCreatedMessage,
  type Gate,
  hasEnded,
  type RevisionCreatedMessage,
  type RevisionHeldMessage,
  type RevisionReleasedMessage,
  type RevisionStatusChangedMessage,
} from '@fairlead/contracts';
import type { DomainEvent } from '@fairlead/eventing';
import type { CommitState } from '../hosts/dialect';
import { cut } from '../hosts/host-text';

/** Events of a deployment that say what becomes of revisions with gates. */
export type GatedEvent =
  | DomainEvent<'DeploymentCreated', DeploymentCreatedMessage>
  | DomainEvent<'RevisionCreated', RevisionCreatedMessage>
  | DomainEvent<'RevisionCommitResolved', { readonly revision_id: string; readonly repo_commit_sha: string }>
  | DomainEvent<'RevisionHeld', RevisionHeldMessage>
  | DomainEvent<'RevisionReleased', RevisionReleasedMessage>
  | DomainEvent<'RevisionStatusChanged', RevisionStatusChangedMessage>
  | DomainEvent<'DeploymentDeletionRequested', unknown>;

/** The outcome of the gates of a revision, or why there is none. */
export type Standing = 'held' | 'promoted' | 'overridden' | 'refused' | 'superseded' | 'ended';

export interface GatedRevision {
  readonly commit: string | null;
  readonly ref: string | null;
  readonly gates: readonly Gate[];
  /** Null before a gate has held it, or it was let through. */
  readonly standing: Standing | null;
  /** Why it was refused, in sentences. */
  readonly reason: string | null;
}

/** A deployment from a repository, and some of its revisions by their ids. */
export interface GatedDeployment {
  readonly name: string;
  readonly integration_id: string | null;
  readonly repo_url: string;
  readonly revisions: ReadonlyMap<string, GatedRevision>;
}

const NOTHING: GatedRevision = { commit: null, ref: null, gates: [], standing: null, reason: null };

/** Each standing as hosts know it, and in words. */
const STANDINGS: Readonly<Record<Standing, { readonly state: CommitState; readonly words: string }>> = {
  held: { state: 'pending', words: 'held by its gates' },
  promoted: { state: 'success', words: 'promoted by its gates' },
  overridden: { state: 'success', words: 'let through, whatever its gates say' },
  refused: { state: 'failure', words: 'refused by its gates' },
  superseded: { state: 'skipped', words: 'skipped for a newer revision' },
  ended: { state: 'skipped', words: 'ended before its gates have decided' },
};
/** Characters of a description that every host takes. */
const LONGEST = 140;

/** Folds the events of one deployment, as far as they are about some of its revisions. */
export function gatedEvolve(wanted: ReadonlySet<string>) {
  return (state: GatedDeployment | null, event: GatedEvent): GatedDeployment | null => {
    if (event.type === 'DeploymentCreated') {
      const { name, source_config } = event.data;
      const { integration_id = null, repo_url = '' } = source_config;
      return { name, integration_id, repo_url, revisions: new Map() };
    }
    if (!state) return null;
    const ids = event.type === 'DeploymentDeletionRequested' ? wanted : [event.data.revision_id];
    const revisions = new Map(state.revisions);
    for (const id of ids) if (wanted.has(id)) revisions.set(id, evolve(revisions.get(id) ?? NOTHING, event));
    return { ...state, revisions };
  };
}

function evolve(state: GatedRevision, event: GatedEvent): GatedRevision {
  const { standing } = state;
  switch (event.type) {
    case 'RevisionCreated': {
      const { source_revision_config: config, gates = [] } = event.data;
      return { ...state, commit: config.repo_commit_sha ?? null, ref: config.repo_ref ?? null, gates };
    }
    case 'RevisionCommitResolved':
      return { ...state, commit: event.data.repo_commit_sha };
    case 'RevisionHeld':
      return { ...state, gates: event.data.gates, standing: standing ?? 'held' };
    case 'RevisionReleased':
      return { ...state, standing: event.data.by === 'verdict' ? 'promoted' : 'overridden' };
    case 'RevisionStatusChanged': {
      const { status, replaced_by, reason = null } = event.data;
      if (standing !== 'held' || !hasEnded(status)) return state;
      if (status === 'DEPLOY_FAILED') return { ...state, standing: 'refused', reason };
      const isReplaced = status === 'SKIPPED' || replaced_by !== undefined;
      return { ...state, standing: isReplaced ? 'superseded' : 'ended' };
    }
    case 'DeploymentDeletionRequested':
      return standing === 'held' ? { ...state, standing: 'ended' } : state;
    default:
      return state;
  }
}

/** The standing of a revision for a host; `reasons`: those of the last look. */
export function told(standing: Standing, reason: string | null, reasons: readonly string[]) {
  const { state, words } = STANDINGS[standing];
  const why = standing === 'refused' ? (reason ?? reasons[0]) : standing === 'held' ? reasons[0] : undefined;
  const sentence = `${words[0]!.toUpperCase()}${words.slice(1)}${why === undefined ? '.' : `: ${why}`}`;
  const plain = cut(sentence.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' '));
  return { state, words, description: plain.length > LONGEST ? `${whole(plain.slice(0, LONGEST - 1))}…` : plain };
}

/** Returns a text without the half of a character at its end. */
function whole(text: string): string {
  return text.replace(/\p{Cs}$/u, '');
}
