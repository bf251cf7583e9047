export { rendered, TestNamespace } from './test-namespace';
