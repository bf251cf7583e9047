import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { providerModel } from './provider/provider';
import { tokenModel } from './token/token';

historyTests(
  join(__dirname, 'recorded'),
  { oauthProvider: providerModel, oauthToken: tokenModel },
  renamed('OAuthTokenGranted', 'scopes', 'granted'),
);
