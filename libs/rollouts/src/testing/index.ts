export { makeProgramLayer } from './container.images';
export { ImageRegistry } from './image.registry';
export { rendered, TestNamespace } from './test-namespace';
