import { PROVIDERS, type Provider } from '../integration/integration';
import { accepts } from './path-filter';

type Case = readonly [pattern: string, matching: readonly string[], others: readonly string[]];

/** Cases that the documentation of the hosts names, and their edges. */
const ACTIONS: readonly Case[] = [
  ['*', ['README.md', 'server.rb'], ['docs/README.md']],
  ['*.jsx?', ['page.js', 'page.jsx'], ['src/page.js', 'page.jsxx']],
  ['**', ['all/the/files.md', '.hidden'], []],
  ['*.js', ['app.js', '.js'], ['js/index.js']],
  ['**.js', ['index.js', 'js/index.js', 'src/js/app.js'], ['index.ts']],
  ['docs/*', ['docs/README.md'], ['docs/a/b.md', 'docs']],
  ['docs/**', ['docs/README.md', 'docs/mona/octocat.txt'], ['mydocs/x']],
  ['docs/**/*.md', ['docs/README.md', 'docs/mona/hello.md', 'docs/a/b.md'], ['docs/a.txt']],
  ['**/docs/**', ['docs/hello.md', 'dir/docs/my-file.txt', 'space/docs/plan/space.doc'], ['mydocs/hello.md']],
  ['**/README.md', ['README.md', 'js/README.md'], ['MYREADME.md']],
  ['**/*src/**', ['a/src/app.js', 'my-src/code/js/app.js'], ['srcs/app.js']],
  ['v[12].[0-9]+', ['v1.10', 'v2.0'], ['v3.1', 'v1.']],
  ['\\*.md', ['*.md'], ['a.md']],
];
const RUBY: readonly Case[] = [
  ['docker/scripts/*', ['docker/scripts/run.sh', 'docker/scripts/.env'], ['docker/scripts/a/b.sh']],
  ['docker/scripts/**/*', ['docker/scripts/run.sh', 'docker/scripts/a/b.sh'], ['docker/run.sh']],
  ['*.{rb,py,sh}', ['a.rb', 'b.py'], ['a.js', 'x/a.rb']],
  ['**/*.json', ['package.json', 'a/b/package.json'], ['package.js']],
  ['docs/**', ['docs/a.md'], ['docs/a/b.md']],
  ['file?.[ch]', ['file1.c', 'file2.h'], ['file.c', 'file10.c']],
  ['!docs/**', [], ['docs/a.md', 'src/a.ts']],
];
const BITBUCKET: readonly Case[] = [
  ['path1/*.xml', ['path1/a.xml'], ['path1/b/a.xml', 'a.xml']],
  ['path2/**', ['path2/a', 'path2/b/c.txt'], ['path1/a']],
  ['**/*.py', ['a.py', 'b/c/a.py'], ['a.pyc']],
  ['{src,lib}/**', ['src/a', 'lib/b/c'], ['docs/a']],
];
const CASES: Readonly<Record<Provider, readonly Case[]>> = {
  ...{ github: ACTIONS, gitea: ACTIONS, gitlab: RUBY, bitbucket: BITBUCKET },
};

describe.each(PROVIDERS)('A pattern of %s', (provider) => {
  it.each(CASES[provider])('%s chooses the files that its CI chooses', (pattern, matching, others) => {
    for (const file of matching) expect([file, accepts(provider, [pattern], [file])]).toEqual([file, true]);
    for (const file of others) expect([file, accepts(provider, [pattern], [file])]).toEqual([file, false]);
  });

  it('is one of several, of which one is enough, for one of the files', () => {
    expect(accepts(provider, ['a/*', 'b/*'], ['c/x', 'b/x'])).toBe(true);
    expect(accepts(provider, ['a/*', 'b/*'], ['c/x'])).toBe(false);
    expect(accepts(provider, [], ['c/x'])).toBe(true);
  });

  it('that is made to take long takes no longer than others', () => {
    const hostile = ['*a'.repeat(100), '**a'.repeat(66), '{a,b}'.repeat(40), '[a-'.repeat(60), 'a?'.repeat(100)];
    const files = Array.from({ length: 300 }, (_, n) => `${'a'.repeat(4000)}${n}`);
    expect(typeof accepts(provider, hostile, files)).toBe('boolean');
  });
});

it('of GitHub and Gitea that begins with ! takes files out again, and the last one decides', () => {
  for (const provider of ['github', 'gitea'] as const) {
    const patterns = ['sub-project/**', '!sub-project/docs/**', 'sub-project/docs/keep.md'];
    expect(accepts(provider, patterns, ['sub-project/docs/a.md'])).toBe(false);
    expect(accepts(provider, patterns, ['sub-project/index.js', 'sub-project/docs/a.md'])).toBe(true);
    expect(accepts(provider, patterns, ['sub-project/docs/keep.md'])).toBe(true);
  }
});
