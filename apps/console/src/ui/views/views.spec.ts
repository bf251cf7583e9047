import { changesTo, isAsSaved, type SavedView, viewOf } from './views';

const view = { id: 'v1', name: 'failed', parameters: { status: 'error', tag: 'night' } } as unknown as SavedView;

it('takes filters, order and columns for a view, and no places', () => {
  expect(viewOf({ status: 'error', columns: '|a', offset: '50', tab: 'examples', view: 'v0', q: '' })).toEqual({
    status: 'error',
    columns: '|a',
  });
});

it('shows a view in place of what is shown', () => {
  expect(changesTo({ status: 'error', q: 'parcel', tab: 'examples', view: 'v0' }, view)).toEqual({
    ...{ status: 'error', tag: 'night', view: 'v1', q: undefined, offset: undefined },
  });
  expect(changesTo({ q: 'parcel', view: 'v1' }, undefined)).toEqual({
    q: undefined,
    offset: undefined,
    view: undefined,
  });
});

it('says whether it is shown as it was saved', () => {
  expect(isAsSaved({ tag: 'night', status: 'error', view: 'v1', offset: '50' }, view)).toBe(true);
  expect(isAsSaved({ status: 'error', view: 'v1' }, view)).toBe(false);
  expect(isAsSaved({ status: 'error', tag: 'night', q: 'more' }, view)).toBe(false);
});
