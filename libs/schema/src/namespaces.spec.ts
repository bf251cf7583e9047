import { Namespaces, parseNamespace, parseNamespaces } from './namespaces';

const A = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
const B = '7f0d0f6e-5c3e-4c1a-9a61-222222222222';
const namespaces = (usual: string | undefined, others?: string) =>
  new Namespaces(
    usual === undefined ? undefined : parseNamespace(usual),
    others === undefined ? [] : parseNamespaces(others),
  );

describe('namespaces', () => {
  it('are the usual one, the others that are listed, and those of the workspace', () => {
    const known = namespaces('agents', `more, a-only=${A}, team-{workspace_id}`);
    expect(known.of(A, undefined)).toBe('agents');
    expect(known.of(A, 'agents')).toBe('agents');
    expect(known.of(B, 'more')).toBe('more');
    expect(known.of(A, 'a-only')).toBe('a-only');
    expect(known.of(B, `team-${B}`)).toBe(`team-${B}`);
    for (const named of ['default', 'kube-system', 'a-only', `team-${A}`, 'team-{workspace_id}', '']) {
      expect(() => known.of(B, named)).toThrow('The workspace may not use the namespace');
    }
  });

  it('are one for each workspace', () => {
    expect(namespaces('agents-{workspace_id}').of(B, undefined)).toBe(`agents-${B}`);
    expect(() => namespaces(`agents=${A}`).of(B, undefined)).toThrow('names no namespace');
    expect(() => namespaces(undefined).of(A, undefined)).toThrow('names no namespace');
  });

  it.each([
    [undefined, undefined, true],
    ['agents', undefined, false],
    ['agents-{workspace_id}', undefined, true],
    ['agents-{workspace_id}', 'shared', false],
    [`a=${A}`, `b=${B},c=${A}`, true],
    [`a=${A}`, `a=${B}`, false],
    [`a=${A}`, `a=${A}`, true],
    ['agents-{workspace_id}', `agents-${A}=${B}`, false],
  ])('%s and %s: each belongs to one workspace: %s', (usual, others, separate) => {
    expect(namespaces(usual, others).separate).toBe(separate);
  });

  it.each(['', 'Upper', 'a b', 'a=b', `a=${A}=${B}`, 'a'.repeat(64), `${'a'.repeat(30)}-{workspace_id}`, '{tenant}'])(
    'cannot be %j',
    (text) => expect(() => parseNamespace(text)).toThrow(/^must /),
  );
});
