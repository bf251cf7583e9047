import { CommandProblem, fillCommand, parseCommand } from './command-line';

const values = {
  deployment_id: 'd',
  deployment_name: 'my agent',
  revision_id: 'r',
  image_uri: undefined,
  repo_url: undefined,
  repo_ref: '--upload-pack=x',
  commit_sha: undefined,
  source_tarball: undefined,
};

describe('a command line', () => {
  it.each([
    ['deploy  --fast', ['deploy', '--fast']],
    [`sh -c 'echo "$1"' sh {deployment_name}`, ['sh', '-c', 'echo "$1"', 'sh', '{deployment_name}']],
    ['"/opt/my scripts/deploy" a\\ b ""', ['/opt/my scripts/deploy', 'a b', '']],
    [`'it'"'"'s'`, ["it's"]],
  ])('%s is split into words', (text, words) => {
    expect(parseCommand(text)).toEqual(words);
  });

  it.each([
    ['', /empty/],
    ['deploy "x', /quote/],
    ['deploy {unknown}', /unknown placeholder/],
    ['deploy --image={image_uri}', /whole argument/],
    ['{image_uri} x', /program/],
    ['sh -c {image_uri}', /script/],
    ['bash -ec {repo_ref}', /script/],
    [`sh -c 'run {image_uri}'`, /whole argument/],
  ])('%s is refused', (text, reason) => {
    expect(() => parseCommand(text)).toThrow(CommandProblem);
    expect(() => parseCommand(text)).toThrow(reason);
  });

  it('is filled with values that stay one argument each', () => {
    expect(fillCommand(['run', '{deployment_name}'], values)).toEqual(['run', 'my agent']);
    expect(() => fillCommand(['run', '{image_uri}'], values)).toThrow('The revision has no image_uri');
    expect(() => fillCommand(['run', '{repo_ref}'], values)).toThrow('begins with a hyphen');
  });
});
