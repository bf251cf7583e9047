import { changesBetween, draftOf, flat, nested, patchOf, rebased } from './change';
import type { Deployment } from '../words';

const IMAGE = 'source_revision_config.image_uri';
const CPU = 'source_config.resource_spec.cpu';
const URL = 'source_config.custom_url';
const BASE = { [IMAGE]: 'a:1', [CPU]: 1, [URL]: 'https://a.example' };

it('makes a draft of what can change, and the PATCH of what was changed', () => {
  const deployment = {
    source_config: { custom_url: 'https://a.example', repo_url: null, listener_id: 'fixed', resource_spec: { cpu: 1 } },
    source_revision_config: { image_uri: 'a:1', repo_commit_sha: 'found' },
    secret_references: null,
  } as unknown as Deployment;
  expect(draftOf(deployment)).toEqual(BASE);
  expect(patchOf(BASE, { ...BASE, [CPU]: 2 })).toEqual({ source_config: { resource_spec: { cpu: 2 } } });
  expect(patchOf(BASE, { ...BASE })).toEqual({});
});

it('writes a draft as JSON and reads it again, and says what is wrong with other JSON', () => {
  expect(flat(nested(BASE))).toEqual(BASE);
  expect(() => flat([])).toThrow('It must be a JSON object.');
  expect(() => flat({ name: 'x' })).toThrow('name cannot change here.');
  expect(() => flat({ source_config: 1 })).toThrow('source_config must be an object.');
});

it('puts changes on top of those of somebody else, and names what both changed', () => {
  const mine = { ...BASE, [IMAGE]: 'a:2', [CPU]: 2 };
  const theirs = { ...BASE, [IMAGE]: 'a:3', [URL]: 'https://b.example' };
  const { draft, conflicts } = rebased(BASE, mine, theirs);
  expect(draft).toEqual({ [IMAGE]: 'a:2', [CPU]: 2, [URL]: 'https://b.example' });
  expect(conflicts).toEqual([IMAGE]);
  expect(changesBetween(theirs, draft).map(({ member }) => member)).toEqual([IMAGE, CPU]);
  expect(rebased(BASE, mine, mine).conflicts).toEqual([]);
});
