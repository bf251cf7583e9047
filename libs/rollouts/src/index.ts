export { CommandExecutor, type CommandSettings } from './executors/command.executor';
export * from './executors/executor';
export { KubernetesExecutor } from './executors/kubernetes.executor';
export * from './migrations';
export { RecordExecutor } from './executors/record.executor';
export { RolloutsModule } from './rollouts.module';
export { RolloutsOptions } from './rollouts.options';
