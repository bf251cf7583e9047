export { FakeCluster } from './fake-cluster';
export { EndedPods } from '../kubernetes/ended-pods';
export { podHealth } from '../kubernetes/pod-health';
export { ENDS_OF_LOOP, RECOVERED_MS, STEADY_MS } from '../port/crash-loop';
export { makeProgramLayer } from './container.images';
export { ImageRegistry } from './image.registry';
export { rendered, TestNamespace } from './test-namespace';
