import { given } from '@fairlead/eventing/testing';
import { beginShare, endShare, shareModel } from './share';

const shared = {
  type: 'RunShared',
  data: { id: 'r', session_id: 's', token: { subject: 'share', sealed: 'c2VhbGVk' }, digest: 'ZGlnZXN0' },
} as const;
const link = {
  type: 'ShareLinkCreated',
  data: {
    id: 'l',
    kind: 'run',
    dataset_id: null,
    experiments: ['s'],
    run_id: 'r',
    hidden: ['inputs'],
    expires_at: '2026-03-01T00:00:00Z',
    digest: 'ZGlnZXN0',
  },
} as const;
const [EARLIER, LATER] = ['1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z'];

it.each([
  ['a share that lasts', shared, { type: 'RunUnshared', data: { id: 'r' } }],
  ['a share that ends by itself', link, { type: 'ShareLinkDeleted', data: { id: 'l' } }],
] as const)('%s is ended by the event of its kind, once', (_, begun, ended) => {
  given(shareModel, begun).when(endShare).then(ended);
  given(shareModel, begun, ended).when(endShare).then();
  given(shareModel).when(endShare).then();
});

it('what is shared already keeps its share, unless the thing is newer than that', () => {
  given(shareModel, shared).when(beginShare(shared, EARLIER)).then();
  given(shareModel, shared).when(beginShare(shared, LATER)).then(shared);
});
