import { filled, overlaid } from './overlay';

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', labels: { app: 'a' } },
  spec: {
    template: {
      spec: {
        containers: [
          { name: 'agent', image: 'i', args: ['a', 'b'] },
          { name: 'proxy', image: 'p' },
        ],
        serviceAccountName: 'runner',
      },
    },
  },
};
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } };

describe('an overlay', () => {
  it('is merged into every object of its kind', () => {
    const overlay = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { labels: { cost: '{workspace_id}' } },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'agent', args: ['c'] }, { name: 'extra' }],
            serviceAccountName: null,
            tolerations: [{ key: 'gpu' }],
          },
        },
      },
    };
    expect(overlaid(deployment, [overlay], { workspace_id: 'w' })).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', labels: { app: 'a', cost: 'w' } },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'agent', image: 'i', args: ['c'] }, { name: 'proxy', image: 'p' }, { name: 'extra' }],
            tolerations: [{ key: 'gpu' }],
          },
        },
      },
    });
    expect(overlaid(service, [overlay], {})).toEqual(service);
  });

  it('of all kinds is merged into every object, after those before it', () => {
    const all = { kind: '*', metadata: { labels: { cost: 'x' } } };
    const one = { kind: 'Service', metadata: { labels: { cost: 'y' } } };
    expect(overlaid(service, [all, one], {}).metadata).toEqual({ name: 'a', labels: { cost: 'y' } });
    expect(overlaid(service, [one, all], {}).metadata).toEqual({ name: 'a', labels: { cost: 'x' } });
  });

  it('keeps what has no value as it is', () => {
    expect(filled({ host: '{name}.{zone}', list: ['{name}', 1, null] }, { name: 'a' })).toEqual({
      host: 'a.{zone}',
      list: ['a', 1, null],
    });
  });
});
