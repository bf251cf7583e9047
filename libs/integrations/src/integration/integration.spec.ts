import { owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import { IntegrationNotFound, InvalidIntegration } from './integration.errors';
import {
  add,
  type Auth,
  change,
  type IntegrationAdded,
  integrationAggregate,
  integrationModel,
  remove,
} from './integration';

const TENANT = 'tenant-1';
const sealed = (text: string) => ({ subject: 'i1', sealed: text });
const token: Auth = { kind: 'token', token: sealed('a') };
const added: IntegrationAdded = {
  type: 'IntegrationAdded',
  data: {
    integration_id: 'i1',
    tenant_id: TENANT,
    name: 'host',
    provider: 'gitlab',
    base_url: 'https://gitlab.example',
    auth: token,
    webhook_secret: null,
  },
};
const mine = (decide: Parameters<typeof change>[0]) => owned(integrationAggregate, TENANT, 'i1', change(decide));

it('is added once', () => {
  given(integrationModel).when(add(added.data)).then(added);
  given(integrationModel, added).when(add(added.data)).then();
});

it('signs in as an App only at GitHub', () => {
  const auth: Auth = { kind: 'app', app_id: 1, installation_id: 2, private_key: sealed('k') };
  given(integrationModel)
    .when(add({ ...added.data, auth }))
    .throws(InvalidIntegration, /credentials.app_id/);
  given(integrationModel, added).when(mine({ auth })).throws(InvalidIntegration);
});

it('changes what differs', () => {
  given(integrationModel, added)
    .when(mine({ name: 'other', base_url: 'https://gitlab.example', provider: 'gitlab' }))
    .then({ type: 'IntegrationChanged', data: { name: 'other' } });
  given(integrationModel, added)
    .when(mine({ name: 'host' }))
    .then();
});

it('keeps its provider', () => {
  given(integrationModel, added)
    .when(mine({ provider: 'gitea' }))
    .throws(InvalidIntegration, /^provider/);
});

it('never sends stored credentials to another host', () => {
  const base_url = 'https://collector.example';
  given(integrationModel, added)
    .when(mine({ base_url }))
    .throws(InvalidIntegration, /^credentials/);
  given(integrationModel, added)
    .when(mine({ base_url, auth: token }))
    .then({ type: 'IntegrationChanged', data: { base_url, auth: token } });
});

it('is not there for another tenant, nor after its removal', () => {
  const removed = { type: 'IntegrationRemoved', data: { integration_id: 'i1' } } as const;
  given(integrationModel, added)
    .when(owned(integrationAggregate, TENANT, 'i1', remove))
    .then(removed);
  given(integrationModel, added)
    .when(owned(integrationAggregate, 'tenant-2', 'i1', remove))
    .throws(IntegrationNotFound);
  given(integrationModel, added, removed)
    .when(owned(integrationAggregate, TENANT, 'i1', remove))
    .throws(IntegrationNotFound);
});
