export * from './migrations';
export { RolloutsModule } from './rollouts.module';
export { RolloutsOptions } from './steps/rollouts.options';
