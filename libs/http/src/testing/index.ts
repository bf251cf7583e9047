export { Collector, type SentSpan } from './collector';
