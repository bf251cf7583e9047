import { AllowList, parseAllowList } from '@fairlead/schema';
import { podProblems } from './pod-rules';
import { type PodSecurityLevel, securityContextFor } from './pod-security';

const WORKSPACE = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
interface Rules {
  readonly allow?: string;
  readonly level?: PodSecurityLevel;
}
const problems = (resource_spec: object, { allow = 'Secret/db', level = 'restricted' }: Rules = {}) =>
  podProblems({ resource_spec: { ...resource_spec }, secret_references: null }, WORKSPACE, {
    allow: new AllowList(parseAllowList(allow)),
    level,
  });
const sidecar = (members: object) => ({ sidecars: [{ name: 'helper', image: 'helper', ...members }] });
const volume = (members: object) => ({ volumes: [{ name: 'data', ...members }] });
const context = (securityContext: object) => sidecar({ securityContext });

describe('what a pod may have', () => {
  it.each([
    {},
    {
      min_scale: 1,
      cpu: 0.5,
      labels: { team: 'a', 'app.kubernetes.io/part-of': 'x' },
      annotations: { 'prometheus.io/scrape': 'true', 'fairlead.dev/health-path': '/ok', team: 'a' },
    },
    { service_account_name: 'default' },
    volume({ emptyDir: {} }),
    volume({ emptyDir: { medium: 'Memory', sizeLimit: '1Gi' }, nfs: null }),
    volume({ secret: { secretName: 'db', items: [] } }),
    volume({ downwardAPI: { items: [] } }),
    volume({ projected: { sources: [{ secret: { name: 'db' } }, { downwardAPI: { items: [] } }] } }),
    sidecar({
      env: [
        { name: 'A', value: 'b' },
        { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
    }),
    sidecar({ envFrom: [{ prefix: 'DB_', secretRef: { name: 'db' } }] }),
    context({
      runAsUser: 1000,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    }),
  ])('%j', (spec) => {
    expect(problems(spec)).toEqual([]);
  });

  it.each([
    [{ service_account_name: 'admin' }, 'service_account_name may not be admin: the setting KUBERNETES_ALLOW'],
    [{ image_pull_secrets: [{ name: 'theirs' }] }, 'image_pull_secrets[0].name may not be theirs: '],
    [volume({}), 'volumes[0] (data) must have exactly one of configMap, secret, emptyDir'],
    [volume({ hostPath: { path: '/' } }), 'volumes[0] (data) must have exactly one of '],
    [volume({ emptyDir: {}, secret: { secretName: 'db' } }), 'volumes[0] (data) must have exactly one of '],
    [
      volume({ secret: { secretName: 'fairlead-1' } }),
      'volumes[0].secret.secretName may not be fairlead-1: names that begin',
    ],
    [volume({ secret: {} }), 'volumes[0].secret.secretName must be the name of a Secret.'],
    [volume({ secret: { secretName: 'db', more: 1 } }), 'volumes[0].secret may not have more: only secretName'],
    [volume({ configMap: { name: 'x' } }), 'volumes[0].configMap.name may not be x: '],
    [
      volume({ persistentVolumeClaim: { claimName: 'x' } }),
      'volumes[0].persistentVolumeClaim.claimName may not be x: ',
    ],
    [volume({ nfs: { server: '10.0.0.1', path: '/' } }), 'volumes[0].nfs is not allowed by the Pod Security level'],
    [
      volume({ csi: { driver: 'secrets-store.csi.k8s.io' } }),
      'volumes[0].csi.driver may not be secrets-store.csi.k8s.io: ',
    ],
    [
      volume({ projected: { sources: [{ secret: { name: 'fairlead-1' } }] } }),
      'volumes[0].projected.sources[0].secret.name may not',
    ],
    [
      volume({ projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }),
      'volumes[0].projected.sources[0] may not have serviceAccountToken',
    ],
    [
      {
        service_account_name: 'default',
        ...volume({ projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } }),
      },
      'volumes[0].projected.sources[0] may not have serviceAccountToken',
    ],
    [
      sidecar({ envFrom: [{ secretRef: { name: 'fairlead-1' } }] }),
      'sidecars[0].envFrom[0].secretRef.name may not be fairlead-1: ',
    ],
    [
      sidecar({ envFrom: [{ configMapRef: { name: 'x' } }] }),
      'sidecars[0].envFrom[0].configMapRef.name may not be x: ',
    ],
    [sidecar({ envFrom: [{ other: {} }] }), 'sidecars[0].envFrom[0] may not have other'],
    [
      sidecar({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'fairlead-1', key: 'TOKEN' } } }] }),
      'sidecars[0].env[0].valueFrom.secretKeyRef.name may not be fairlead-1: ',
    ],
    [
      sidecar({ env: [{ name: 'A', valueFrom: { fileKeyRef: {} } }] }),
      'sidecars[0].env[0].valueFrom may not have fileKeyRef',
    ],
    [sidecar({ lifecycle: {} }), 'sidecars[0] may not have lifecycle'],
    [{ init_containers: [{ name: 'agent' }] }, 'init_containers[0].name is taken by another container: agent.'],
    [{ volume_mounts: [{ mountPropagation: 'Bidirectional' }] }, 'volume_mounts[0].mountPropagation must not be'],
    [
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/agent': 'unconfined' } },
      'annotations may not have container.',
    ],
    [{ labels: { 'node.k8s.io/x': 'y' } }, 'labels may not have node.k8s.io/x: '],
    [{ labels: { 'sidecar.istio.io/inject': 'true' } }, 'labels may not have sidecar.istio.io/inject: '],
    [{ annotations: { 'vault.hashicorp.com/agent-inject': 'true' } }, 'annotations may not have vault.hashicorp.com/'],
    [{ annotations: { 'fairlead.dev/revision-id': 'x' } }, 'annotations may not have fairlead.dev/revision-id: '],
    [context({ privileged: true }), 'sidecars[0].securityContext.privileged must be false.'],
    [
      context({ allowPrivilegeEscalation: true }),
      'sidecars[0].securityContext.allowPrivilegeEscalation must be false.',
    ],
    [
      context({ capabilities: { add: ['SYS_ADMIN'] } }),
      'sidecars[0].securityContext.capabilities.add must be of NET_BIND',
    ],
    [context({ capabilities: { add: 'SYS_ADMIN' } }), 'sidecars[0].securityContext.capabilities.add must be a list.'],
    [context({ runAsNonRoot: false }), 'sidecars[0].securityContext.runAsNonRoot must be true.'],
    [context({ runAsUser: 0 }), 'sidecars[0].securityContext.runAsUser must not be 0.'],
    [context({ seccompProfile: { type: 'Unconfined' } }), 'sidecars[0].securityContext.seccompProfile.type must be'],
    [context({ seLinuxOptions: { type: 'spc_t' } }), 'sidecars[0].securityContext.seLinuxOptions.type must be'],
    [context({ procMount: 'Unmasked' }), 'sidecars[0].securityContext.procMount must be Default.'],
    [context({ windowsOptions: { hostProcess: true } }), 'sidecars[0].securityContext.windowsOptions is not allowed.'],
  ])('not %j', (spec, sentence) => {
    expect(problems(spec)).toEqual([expect.stringContaining(sentence)]);
  });

  it('is what the operator lists, for each workspace its own', () => {
    const allow = `ServiceAccount/run-*,Secret/{workspace_id}.*,CSIDriver/*,NFSServer/10.0.0.1,Annotation/x.kubernetes.io/*`;
    const own = (name: string) => problems(volume({ secret: { secretName: name } }), { allow });
    expect(own(`${WORKSPACE}.db`)).toEqual([]);
    expect(own(`${WORKSPACE}xdb`)).toHaveLength(1);
    expect(own(`7f0d0f6e-5c3e-4c1a-9a61-222222222222.db`)).toHaveLength(1);
    const token = volume({ projected: { sources: [{ serviceAccountToken: { path: 'x' } }] } });
    expect(problems({ service_account_name: 'run-this', ...token }, { allow })).toEqual([]);
    expect(problems({ annotations: { 'x.kubernetes.io/y': '' } }, { allow })).toEqual([]);
    const labels = { 'example.com/team': 'a' };
    expect(problems({ labels }, { allow: 'Label/example.com/*' })).toEqual([]);
    expect(problems({ labels }, { allow: 'Annotation/example.com/*' })).toHaveLength(1);
    expect(problems(volume({ csi: { driver: 'any' } }), { allow })).toEqual([]);
    expect(problems(volume({ nfs: { server: '10.0.0.1' } }), { allow, level: 'baseline' })).toEqual([]);
    expect(problems(volume({ secret: { secretName: 'fairlead-1' } }), { allow: 'Secret/*' })).toHaveLength(1);
  });

  it('is more where the Pod Security level is lower', () => {
    const root = context({ runAsUser: 0, capabilities: { add: ['CHOWN'] } });
    expect(problems(root, { level: 'baseline' })).toEqual([]);
    expect(problems(context({ privileged: true }), { level: 'baseline' })).toHaveLength(1);
    expect(problems(context({ privileged: true }), { level: 'privileged' })).toEqual([]);
  });

  it('has the security context that its level asks for', () => {
    expect(securityContextFor('restricted', { runAsUser: 7, capabilities: { add: ['NET_BIND_SERVICE'] } })).toEqual({
      runAsUser: 7,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    });
    const nulls = { runAsNonRoot: null, seccompProfile: null, runAsUser: null };
    expect(securityContextFor('restricted', nulls)).toEqual(securityContextFor('restricted', undefined));
    expect(securityContextFor('baseline', undefined)).toBeUndefined();
    expect(securityContextFor('privileged', { privileged: true })).toEqual({ privileged: true });
  });
});

it.each(['', 'Secret', 'Secret/', 'Pod/x', 'secret/x', 'Secret/x,'])('%j is no list of what may be named', (text) => {
  expect(() => parseAllowList(text)).toThrow(/^must be a list like /);
});
