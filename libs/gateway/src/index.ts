export type { Remote } from './forwarder';
export { declaredRoutes, mount } from './mount';
