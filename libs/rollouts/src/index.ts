export * from './domain';
export { MetricsStore } from './metrics/metrics.store';
export { RolloutsModule } from './rollouts.module';
export { RolloutsOptions } from './steps/rollouts.options';
