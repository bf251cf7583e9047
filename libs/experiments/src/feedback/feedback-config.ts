import type { DomainEvent, Model } from '@fairlead/eventing';

/** The configuration of a feedback key, which says how its scores are read, was replaced as a whole. */
export type FeedbackConfigChanged = DomainEvent<
  'FeedbackConfigChanged',
  {
    readonly key: string;
    /** JSON text. */
    readonly config: string;
    readonly is_lower_score_better: boolean;
  }
>;

/** The key has no configuration any more. */
type FeedbackConfigDeleted = DomainEvent<'FeedbackConfigDeleted', { readonly key: string }>;

export type FeedbackConfigEvent = FeedbackConfigChanged | FeedbackConfigDeleted;

/** The configuration that clients have set, null when there is none. */
type FeedbackConfigState = FeedbackConfigChanged['data'] | null;

export const feedbackConfigModel: Model<FeedbackConfigState, FeedbackConfigEvent> = {
  initial: null,
  evolve: (_, event) => (event.type === 'FeedbackConfigChanged' ? event.data : null),
};

/** Sets the configuration of a key; the same again changes nothing. */
export function setConfig(
  wanted: FeedbackConfigChanged['data'],
): (state: FeedbackConfigState) => FeedbackConfigEvent[] {
  return (state) => {
    const same = state?.config === wanted.config && state.is_lower_score_better === wanted.is_lower_score_better;
    return same ? [] : [{ type: 'FeedbackConfigChanged', data: wanted }];
  };
}
