import { owned } from '@fairlead/eventing';
import { given } from '@fairlead/eventing/testing';
import {
  changeView,
  createView,
  deleteView,
  savedViewAggregate,
  type SavedViewEvent,
  savedViewModel,
} from './saved-view';
import { InvalidSavedView, SavedViewNotFound } from './saved-view.errors';

const TENANT = 'tenant-1';
const created = {
  type: 'SavedViewCreated',
  data: { view_id: 'v1', tenant_id: TENANT, page: 'traces', name: 'failed', parameters: { status: 'error' } },
} as const satisfies SavedViewEvent;
const mine = (wanted: Parameters<typeof changeView>[0]) => owned(savedViewAggregate, TENANT, 'v1', changeView(wanted));

it('is created once', () => {
  given(savedViewModel).when(createView(created.data)).then(created);
  given(savedViewModel, created).when(createView(created.data)).then();
});

it('changes what differs', () => {
  const { name, parameters } = created.data;
  given(savedViewModel, created).when(mine({ name, parameters })).then();
  given(savedViewModel, created)
    .when(mine({ name, parameters: { status: 'error', tag: 'night' } }))
    .then({ type: 'SavedViewChanged', data: { parameters: { status: 'error', tag: 'night' } } });
});

it('stays a view of its list', () => {
  given(savedViewModel, created)
    .when(mine({ page: 'traces' }))
    .then();
  given(savedViewModel, created)
    .when(mine({ page: 'datasets' }))
    .throws(InvalidSavedView);
});

it('is gone once it is deleted', () => {
  const deleted: SavedViewEvent = { type: 'SavedViewDeleted', data: { view_id: 'v1' } };
  given(savedViewModel, created)
    .when(owned(savedViewAggregate, TENANT, 'v1', deleteView))
    .then(deleted);
  given(savedViewModel, created, deleted)
    .when(mine({ name: 'other' }))
    .throws(SavedViewNotFound);
  given(savedViewModel, created)
    .when(owned(savedViewAggregate, 'tenant-2', 'v1', deleteView))
    .throws(SavedViewNotFound);
});
