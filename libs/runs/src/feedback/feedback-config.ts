import { type DomainEvent, type Model, streamName } from '@fairlead/eventing';
import { v5 as idFrom } from 'uuid';

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

export function feedbackConfigStream(tenantId: string, key: string): string {
  return streamName('feedbackConfig', idFrom(key, tenantId));
}

/**
 * Sets a configuration; the same one again changes nothing. `isShown`: false when scores have brought another one along
 * since, which no event tells.
 */
export function setConfig(
  wanted: FeedbackConfigChanged['data'],
  isShown: boolean,
): (state: FeedbackConfigState) => FeedbackConfigEvent[] {
  return (state) => {
    const same =
      isShown && state?.config === wanted.config && state.is_lower_score_better === wanted.is_lower_score_better;
    return same ? [] : [{ type: 'FeedbackConfigChanged', data: wanted }];
  };
}
