import type { DomainEvent, Model } from '@fairlead/eventing';

export type FeedbackConfigChanged = DomainEvent<
  'FeedbackConfigChanged',
  {
    readonly key: string;
    /** JSON text. */
    readonly config: string;
    readonly is_lower_score_better: boolean;
  }
>;

type FeedbackConfigDeleted = DomainEvent<'FeedbackConfigDeleted', { readonly key: string }>;

export type FeedbackConfigEvent = FeedbackConfigChanged | FeedbackConfigDeleted;

type FeedbackConfigState = FeedbackConfigChanged['data'] | null;

export const feedbackConfigModel: Model<FeedbackConfigState, FeedbackConfigEvent> = {
  initial: null,
  evolve: (_, event) => (event.type === 'FeedbackConfigChanged' ? event.data : null),
};

export function setConfig(
  wanted: FeedbackConfigChanged['data'],
): (state: FeedbackConfigState) => FeedbackConfigEvent[] {
  return (state) => {
    const same = state?.config === wanted.config && state.is_lower_score_better === wanted.is_lower_score_better;
    return same ? [] : [{ type: 'FeedbackConfigChanged', data: wanted }];
  };
}
