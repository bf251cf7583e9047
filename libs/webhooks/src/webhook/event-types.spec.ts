import { EVENT_TYPES, isSubscription, subscribes, SUBSCRIPTIONS } from './event-types';

it.each(['*', 'deployment.*', 'revision.activated'])('knows the subscription %s', (text) => {
  expect(isSubscription(text)).toBe(true);
});

it.each(['', '**', 'deployment', 'deployment.', 'deployment*', 'depl*', '.*', 'x.*', 'webhook.test', 'toString'])(
  'does not know the subscription %j',
  (text) => {
    expect(isSubscription(text)).toBe(false);
  },
);

it.each(SUBSCRIPTIONS)('matches something with the subscription %s', (text) => {
  expect(Object.keys(EVENT_TYPES).some((type) => subscribes([text], type))).toBe(true);
});

it('matches a type, a prefix or everything', () => {
  expect(subscribes(['revision.activated'], 'revision.activated')).toBe(true);
  expect(subscribes(['deployment.*', 'revision.*'], 'revision.activated')).toBe(true);
  expect(subscribes(['*'], 'revision.activated')).toBe(true);
  expect(subscribes(['deployment.*', 'revision.created'], 'revision.activated')).toBe(false);
});
