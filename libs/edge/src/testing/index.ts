export { inBrowser, startBrowser } from './browser';
export {
  type Answered,
  authenticateCaller,
  type Caller,
  injected,
  isBehind,
  type Method,
  OTHER_TENANT,
  send,
  type Sent,
  TENANT,
} from './callers';
export { Collector } from './collector';
export * from './name-server';
export { SampleModule } from './sample.controller';
export { type SampleServer, startSample } from './sample-server';
export { provided, startModules } from './started-modules';
