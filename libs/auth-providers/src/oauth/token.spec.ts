import { owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import { ConnectionNotFound, TokenNotFound } from './token.errors';
import {
  changeToken,
  connectAgent,
  covers,
  disconnectAgent,
  grantToken,
  hasEnded,
  isEnding,
  refreshToken,
  refuseRefresh,
  removeToken,
  type Token,
  tokenAggregate,
  type TokenEvent,
  type TokenGrant,
  tokenModel,
} from './token';

const ID = '01980000-0000-7000-8000-000000000001';
const sealed = (text: string) => ({ subject: ID, sealed: text });
const grant: TokenGrant = {
  id: ID,
  tenant_id: '7f0d0f6e-5c3e-4c1a-9a61-111111111111',
  provider: '01980000-0000-7000-8000-000000000002',
  provider_id: 'github',
  user_id: 'ada',
  access_token: sealed('access 1'),
  refresh_token: sealed('refresh 1'),
  obtained_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-01-01T01:00:00.000Z',
  scopes: ['repo'],
  requested_scopes: ['repo', 'offline_access'],
  issued_by: 'https://login.example',
  is_default: true,
};
const agent = { connection_id: 'connection', agent_id: 'agent', created_by: 'key' };
const mine = (decide: (token: Token) => TokenEvent[]) => owned(tokenAggregate, grant.tenant_id, ID, decide);
const granted = { type: 'OAuthTokenGranted', data: grant } as const;
const connected = { type: 'OAuthTokenConnected', data: agent } as const;
const removed = { type: 'OAuthTokenRemoved', data: {} } as const;
const next = {
  access_token: sealed('access 2'),
  refresh_token: null,
  obtained_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  scopes: ['repo'],
};

describe('an OAuth token', () => {
  it('is granted, and connected with the agent that asked for it', () => {
    given(tokenModel).when(grantToken(grant)).then(granted);
    given(tokenModel).when(grantToken(grant, agent)).then(granted, connected);
  });

  it('keeps its label and connections when it is consented to anew', () => {
    const labelled = { type: 'OAuthTokenChanged', data: { provider_account_label: 'ada@work' } } as const;
    given(tokenModel, granted, connected, labelled)
      .when(grantToken({ ...grant, scopes: ['repo', 'user'] }, { ...agent, connection_id: 'another' }))
      .thenState((after, events) => {
        expect(events).toHaveLength(1);
        expect(after).toMatchObject({ provider_account_label: 'ada@work', scopes: ['repo', 'user'] });
        expect(after!.connections).toMatchObject([agent]);
      });
  });

  it('keeps its refresh token when the provider sends no new one', () => {
    given(tokenModel, granted)
      .when(mine(refreshToken(next)))
      .then({ type: 'OAuthTokenRefreshed', data: { ...next, refresh_token: sealed('refresh 1') } });
  });

  it('forgets a refresh token that is taken no more, once', () => {
    const refused = { type: 'OAuthTokenRefreshRefused', data: { error: 'invalid_grant' } } as const;
    given(tokenModel, granted)
      .when(mine(refuseRefresh('invalid_grant')))
      .then(refused);
    given(tokenModel, granted, refused)
      .when(mine(refuseRefresh('invalid_grant')))
      .then();
  });

  it('records only changes that make a difference; becoming the default always does', () => {
    given(tokenModel, granted)
      .when(mine(changeToken({})))
      .then();
    given(tokenModel, granted)
      .when(mine(changeToken({ provider_account_label: 'work', is_default: true })))
      .then({ type: 'OAuthTokenChanged', data: { provider_account_label: 'work', is_default: true } });
  });

  it('connects an agent once and disconnects only that agent', () => {
    given(tokenModel, granted)
      .when(mine(connectAgent(agent)))
      .then(connected);
    given(tokenModel, granted, connected)
      .when(mine(connectAgent({ ...agent, connection_id: 'another' })))
      .then();
    given(tokenModel, granted, connected).when(disconnectAgent('other', 'connection')).throws(ConnectionNotFound);
    given(tokenModel, granted, connected)
      .when(disconnectAgent('agent', 'connection'))
      .then({ type: 'OAuthTokenDisconnected', data: { connection_id: 'connection' } });
  });

  it('takes nothing more once it has been removed', () => {
    given(tokenModel, granted).when(mine(removeToken)).then(removed);
    for (const command of [removeToken, changeToken({}), refreshToken(next), connectAgent(agent)]) {
      given(tokenModel, granted, removed).when(mine(command)).throws(TokenNotFound, `OAuth token ID ${ID} not found.`);
    }
  });

  it('covers what was asked for as well as what was granted', () => {
    const token = grant as Token;
    expect(covers(token, [])).toBe(true);
    expect(covers(token, ['repo', 'offline_access'])).toBe(true);
    expect(covers(token, ['repo', 'user'])).toBe(false);
  });

  it('is ending in its last minute, or in its second half when it is short', () => {
    const at = (time: string) => Date.parse(`2026-01-01T${time}Z`);
    expect([isEnding(grant, at('00:58:59')), isEnding(grant, at('00:59:00'))]).toEqual([false, true]);
    expect([hasEnded(grant, at('00:59:59')), hasEnded(grant, at('01:00:00'))]).toEqual([false, true]);
    const short = { ...grant, expires_at: '2026-01-01T00:00:10.000Z' };
    expect([isEnding(short, at('00:00:04')), isEnding(short, at('00:00:05'))]).toEqual([false, true]);
    expect([isEnding(next, at('23:59:59')), hasEnded(next, at('23:59:59'))]).toEqual([false, false]);
  });
});
