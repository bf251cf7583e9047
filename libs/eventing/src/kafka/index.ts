export { KafkaCluster } from './cluster';
export { KafkaRelay } from './relay';
export { KafkaTransport } from './transport';
