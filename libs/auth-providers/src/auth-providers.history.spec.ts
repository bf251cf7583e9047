import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { providerModel } from './oauth/provider';
import { tokenModel } from './oauth/token';

historyTests(
  join(__dirname, 'recorded'),
  { oauthProvider: providerModel, oauthToken: tokenModel },
  renamed('OAuthTokenGranted', 'scopes', 'granted'),
);
