export * from './domain';
export { RolloutsModule } from './rollouts.module';
export { RolloutsOptions } from './steps/rollouts.options';
