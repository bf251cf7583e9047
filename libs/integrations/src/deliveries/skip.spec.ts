import { PROVIDERS } from '../integration/integration';
import { isSkipped } from './skip';

const MESSAGES: readonly (readonly [message: string, providers: string])[] = [
  ['Fix [skip ci]', 'github gitlab gitea bitbucket'],
  ['[ci skip] Fix', 'github gitlab gitea bitbucket'],
  ['Fix\n\nLong text\n[skip ci]', 'github gitlab gitea bitbucket'],
  ['Fix [no ci]', 'github gitea'],
  ['Fix [skip actions]', 'github gitea'],
  ['Fix [actions skip]', 'github gitea'],
  ['Fix [SKIP CI]', 'gitlab'],
  ['Fix [Ci Skip]', 'gitlab'],
  ['Fix\n\n\nskip-checks: true', 'github'],
  ['Fix\n\n\nskip-checks:true\n', 'github'],
  ['Fix\r\n\r\n\r\nSigned-off-by: A\r\nskip-checks: true', 'github'],
  ['Fix\n\nskip-checks: true', ''],
  ['Fix skip-checks: true', ''],
  ['Fix [skip-ci]', ''],
  ['skip ci', ''],
  ['***NO_CI***', ''],
  ['', ''],
];

it.each(MESSAGES)('the message %j is left out by the CI of: %s', (message, providers) => {
  expect(PROVIDERS.filter((provider) => isSkipped(provider, message)).join(' ')).toBe(providers);
});
