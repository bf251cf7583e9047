export { CommandExecutor, type CommandSettings } from './command.executor';
export { CommandProblem, parseCommand } from './command-line';
export * from './executor';
export { KubernetesExecutor, type KubernetesSettings } from './kubernetes.executor';
export * from './migrations';
export { RecordExecutor } from './record.executor';
export { RolloutsModule } from './rollouts.module';
export { RolloutsOptions } from './rollouts.options';
