import { given, recorded } from '@fairlead/eventing/testing';
import { fold, owned } from '@fairlead/eventing';
import { WebhookNotFound } from './webhook.errors';
import {
  add,
  disable,
  patch,
  remove,
  rotateSecret,
  secretsAt,
  type WebhookAdded,
  webhookAggregate,
  type WebhookEvent,
  webhookModel,
} from './webhook';

const TENANT = 'tenant-1';
const URL = 'https://hooks.example/in';
const sealed = (text: string) => ({ subject: 'w1', sealed: text });
const added: WebhookAdded = {
  type: 'WebhookAdded',
  data: {
    webhook_id: 'w1',
    tenant_id: TENANT,
    url: URL,
    event_types: ['deployment.*'],
    description: '',
    enabled: true,
    secret: sealed('first'),
  },
};
const failing: WebhookEvent = { type: 'WebhookDisabled', data: { reason: 'failing' } };
const mine = (wanted: Parameters<typeof patch>[0]) => owned(webhookAggregate, TENANT, 'w1', patch(wanted));

it('is added once', () => {
  given(webhookModel).when(add(added.data)).then(added);
  given(webhookModel, added).when(add(added.data)).then();
});

it('changes what differs', () => {
  given(webhookModel, added)
    .when(mine({ url: URL, event_types: ['deployment.*'], enabled: true, description: 'new' }))
    .then({ type: 'WebhookChanged', data: { description: 'new' } });
  given(webhookModel, added)
    .when(mine({ url: URL, description: undefined }))
    .then();
});

it('is disabled and enabled by its owner', () => {
  const off: WebhookEvent = { type: 'WebhookChanged', data: { enabled: false } };
  given(webhookModel, added)
    .when(mine({ enabled: false }))
    .thenState((state, events) => {
      expect(events).toEqual([off]);
      expect(state?.disabled).toEqual({ reason: 'requested', at: '2026-01-01T00:00:01.000Z' });
    });
  given(webhookModel, added, off)
    .when(mine({ enabled: true }))
    .thenState((state) => expect(state?.disabled).toBeNull());
  given(webhookModel, { ...added, data: { ...added.data, enabled: false } })
    .when(mine({ enabled: false }))
    .then();
});

it('is disabled by the service once, and enabled again by its owner', () => {
  given(webhookModel, added).when(disable('failing', URL)).then(failing);
  given(webhookModel, added, failing).when(disable('gone', URL)).then();
  given(webhookModel, added, failing)
    .when(mine({ enabled: true }))
    .then({ type: 'WebhookChanged', data: { enabled: true } });
});

it('is not disabled for what another target of it did', () => {
  const moved: WebhookEvent = { type: 'WebhookChanged', data: { url: 'https://hooks.example/other' } };
  given(webhookModel, added, moved).when(disable('gone', URL)).then();
});

it('signs with a former secret for a day, and with no more than three of them', () => {
  const rotations = ['second', 'third', 'fourth', 'fifth'].flatMap((text) => rotateSecret(sealed(text))());
  const state = (count: number) => fold(webhookModel, recorded([added, ...rotations.slice(0, count)]))!;
  const names = (count: number, time: string) =>
    secretsAt(state(count), Date.parse(time)).map(({ sealed: name }) => name);
  expect(names(1, '2026-01-01T12:00:00Z')).toEqual(['second', 'first']);
  expect(names(1, '2026-01-02T00:00:00Z')).toEqual(['second', 'first']);
  expect(names(1, '2026-01-02T00:00:01Z')).toEqual(['second']);
  expect(names(4, '2026-01-01T12:00:00Z')).toEqual(['fifth', 'fourth', 'third', 'second']);
});

it('is not there for another tenant, nor after its removal', () => {
  const removed = { type: 'WebhookRemoved', data: { webhook_id: 'w1' } } as const;
  given(webhookModel, added)
    .when(owned(webhookAggregate, TENANT, 'w1', remove))
    .then(removed);
  given(webhookModel, added)
    .when(owned(webhookAggregate, 'tenant-2', 'w1', remove))
    .throws(WebhookNotFound, 'Webhook ID w1 not found.');
  given(webhookModel, added, removed)
    .when(owned(webhookAggregate, TENANT, 'w1', remove))
    .throws(WebhookNotFound);
  given(webhookModel, added, removed).when(disable('gone', URL)).then();
});
