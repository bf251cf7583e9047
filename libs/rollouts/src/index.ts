export { CommandExecutor, type CommandSettings } from './executors/command.executor';
export * from './executors/executor';
export { KubernetesExecutor, type KubernetesSettings } from './executors/kubernetes.executor';
export { KubernetesPlans } from './executors/kubernetes.plans.service';
export * from './migrations';
export { RecordExecutor } from './executors/record.executor';
export { RolloutsModule } from './rollouts.module';
export { RolloutsOptions } from './rollouts.options';
