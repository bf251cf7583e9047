import { commandOf, pagesNamed } from './keys';

const NONE = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
const press = (key: string, held: Partial<typeof NONE> = {}, begun = false) =>
  commandOf({ ...NONE, key, ...held }, begun);

it('reads one key, or two of which the first is g', () => {
  expect([press('/'), press('?', { shiftKey: true }), press('g')]).toEqual(['filter', 'shortcuts', 'begin']);
  expect(['e', 't', 'd', 'a'].map((key) => press(key, {}, true))).toEqual([
    '/o/$w/experiments',
    '/o/$w/projects',
    '/o/$w/host/deployments',
    '/o/$w/audit',
  ]);
  expect(['e', 't', 'd', 'a', 'Shift', 'Enter'].map((key) => press(key))).toEqual(Array(6).fill(undefined));
  expect([press('x', {}, true), press('/', {}, true)]).toEqual([undefined, 'filter']);
});

it('leaves to the browser what is held with Control, Command or Alt, but for K', () => {
  expect([press('k', { ctrlKey: true }), press('K', { metaKey: true })]).toEqual(['pages', 'pages']);
  const left = [press('k'), press('K', { ctrlKey: true, shiftKey: true }), press('k', { ctrlKey: true, altKey: true })];
  for (const key of ['/', '?', 'g', 'd']) {
    left.push(...['ctrlKey', 'metaKey', 'altKey'].map((held) => press(key, { [held]: true }, true)));
  }
  expect(left).toEqual(Array(15).fill(undefined));
});

it('finds pages by the words of their names', () => {
  const names = (text: string) => pagesNamed(text).map(([, name]) => name);
  expect(names('  AUDIT ')).toEqual(['Audit log', 'Audit log: verify a history']);
  expect(names('hooks conn')).toEqual(['Connections: webhooks']);
  expect(names('example')).toEqual(['Example to try things with']);
  expect(names('').length).toBe(14);
  expect(names('nothing')).toEqual([]);
});
