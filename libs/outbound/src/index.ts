export { addressBlock } from './outbound-address';
export { OutboundFailure } from './outbound-errors';
export { OutboundPolicy, parseOutboundAllow } from './outbound-policy';
export { OutboundResolver } from './outbound-resolver';
export { checkTarget, checkUrl, guardedFetch } from './outbound';
