import { owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import { InvalidProvider, ProviderNotFound } from './provider.errors';
import {
  addProvider,
  changeProvider,
  type Provider,
  providerAggregate,
  type ProviderEvent,
  providerModel,
  type ProviderFacts,
  providerRecord,
  removeProvider,
} from './provider';

const TENANT = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
const OTHER = '7f0d0f6e-5c3e-4c1a-9a61-222222222222';
const sealed = (digest: string) => ({ sealed: { subject: 'provider', sealed: `1.${digest}` }, digest });

const facts: ProviderFacts = {
  id: '01980000-0000-7000-8000-000000000001',
  tenant_id: TENANT,
  organization_id: TENANT,
  provider_id: 'github',
  name: 'GitHub',
  client_id: 'client',
  client_secret: sealed('first'),
  auth_url: 'https://login.example/authorize',
  token_url: 'https://login.example/token',
  uses_pkce: false,
  code_challenge_method: 'S256',
  provider_type: null,
  token_endpoint_auth_method: 'client_secret_post',
  mcp_server_url: null,
  resource: null,
  issuer: null,
  is_dynamic_client: false,
};
const added = { type: 'OAuthProviderAdded', data: facts } as const;
const removed = { type: 'OAuthProviderRemoved', data: {} } as const;
const mine = (decide: (state: Provider) => ProviderEvent[], tenant = TENANT) =>
  owned(providerAggregate, tenant, 'github', decide);
const change = (wanted: Parameters<typeof changeProvider>[0], tenant = TENANT) => mine(changeProvider(wanted), tenant);

describe('an OAuth provider', () => {
  it('is added with all its members', () => {
    given(providerModel).when(addProvider(facts)).then(added);
  });

  it('records only the members that a change makes different', () => {
    given(providerModel, added)
      .when(change({ name: 'GitHub.com', client_id: 'client', uses_pkce: true }))
      .then({ type: 'OAuthProviderChanged', data: { name: 'GitHub.com', uses_pkce: true } });
  });

  it('records nothing when every value is the one it has, the secret included', () => {
    given(providerModel, added)
      .when(change({ name: 'GitHub', client_secret: sealed('first') }))
      .then();
  });

  it('takes a new secret', () => {
    given(providerModel, added)
      .when(change({ client_secret: sealed('second') }))
      .then({ type: 'OAuthProviderChanged', data: { client_secret: sealed('second') } });
  });

  it('does not let a kept secret go to another host', () => {
    given(providerModel, added)
      .when(change({ token_url: 'https://evil.example/token' }))
      .throws(InvalidProvider, 'token_url names another host: send client_secret with it.');
    given(providerModel, added)
      .when(change({ token_url: 'https://login.example/oauth/token' }))
      .then({ type: 'OAuthProviderChanged', data: { token_url: 'https://login.example/oauth/token' } });
    const data = { token_url: 'https://other.example/token', client_secret: sealed('second') };
    given(providerModel, added).when(change(data)).then({ type: 'OAuthProviderChanged', data });
  });

  it('is not there for another tenant, nor once it has been removed', () => {
    const message = "OAuth provider 'github' not found";
    given(providerModel, added)
      .when(change({ name: 'x' }, OTHER))
      .throws(ProviderNotFound, message);
    given(providerModel, added).when(mine(removeProvider, OTHER)).throws(ProviderNotFound, message);
    given(providerModel, added, removed)
      .when(change({ name: 'x' }))
      .throws(ProviderNotFound, message);
    given(providerModel, added, removed).when(mine(removeProvider)).throws(ProviderNotFound, message);
    given(providerModel, added).when(mine(removeProvider)).then(removed);
  });

  it('names a challenge method only while it uses PKCE', () => {
    given(providerModel, added)
      .when(change({ uses_pkce: true }))
      .thenState((after) => expect(providerRecord(after!)).toMatchObject({ code_challenge_method: 'S256' }));
    given(providerModel, added)
      .when(change({ name: 'x' }))
      .thenState((after) => expect(providerRecord(after!)).toMatchObject({ code_challenge_method: null }));
  });

  it('never shows its secret', () => {
    given(providerModel, added)
      .when(change({}))
      .thenState((after) => {
        expect(Object.keys(providerRecord(after!)).sort()).toEqual(
          [
            ...['id', 'organization_id', 'provider_id', 'name', 'client_id', 'auth_url', 'token_url', 'uses_pkce'],
            ...['code_challenge_method', 'provider_type', 'mcp_server_url', 'token_endpoint_auth_method'],
            ...['is_dynamic_client', 'created_at', 'updated_at'],
          ].sort(),
        );
      });
  });
});
