import type { Entry } from './data';
import { folded, nounOf, spoken, thingOf, verbOf } from './sentences';

const entry = (operation: string, path = '/v2/deployments', more: object = {}): Entry =>
  ({
    ...{ api: { operation }, http_request: { uid: path, url: { path } }, http_response: { code: null }, count: 1 },
    ...{ actor: { user: { credential_uid: 'key' } }, resources: [] },
    ...more,
  }) as unknown as Entry;

it.each([
  ['create_deployment', undefined, 'created'],
  ['update_deployment', '/v2/deployments/1', 'changed'],
  ['update_deployment', '/v2/deployments/1/revisions/2/redeploy', 'rolled back'],
  ['update_deployment', '/v2/deployments/1/stop', 'stopped'],
  ['read_secrets', '/v2/deployments/1', 'read secrets of'],
  ['create_upload_path', '/v2/deployments/1/upload-url', 'asked to upload a source for'],
  ['create_feedback', '/api/v1/runs/multipart', 'gave feedback in'],
  ['update_dataset_baseline', '/api/v1/datasets/1/baseline', 'chose the baseline of'],
  ['oauth_token_granted', '/v2/auth', 'oauth token granted'],
])('%s at %s is said as a verb', (operation, path, verb) => expect(verbOf(entry(operation, path))).toBe(verb));

it('says how often a request was refused', () => {
  const refused = { http_response: { code: 401 }, count: 214 };
  expect(verbOf(entry('refused_request', '/v2/deployments', refused))).toBe('was refused 401 × 214');
});

it('folds what one request did, and sign-ins, but not what others did between them', () => {
  const other = { actor: { user: { credential_uid: 'other' } } };
  const log = [
    entry('create_console_session', '/a'),
    entry('console_code_used', '/b'),
    entry('update_deployment', '/c'),
    entry('create_deployment', '/c'),
    entry('create_console_session', '/d', other),
    entry('create_console_session', '/e'),
  ];
  expect(folded(log).map(({ first, entries, isSignIn }) => [first.api.operation, entries.length, isSignIn])).toEqual([
    ['console_code_used', 2, true],
    ['create_deployment', 2, false],
    ['create_console_session', 1, true],
    ['create_console_session', 1, true],
  ]);
});

it('names kinds of things and operations in words', () => {
  expect(thingOf({ type: 'apiKey', uid: '0198c1f0-0000' })).toBe('the API key 0198c1f0');
  expect([nounOf('shareLink'), nounOf(null), spoken('delete_deployment')]).toEqual([
    ...['share link', 'thing', 'Delete deployment'],
  ]);
});
