export { type AdminKey, adminKey } from './admin-key';
export { type Edge, startEdge } from './edge';
export { run } from './run';
export type { Service } from './service';
export { type ServiceName, services } from './services';
export { readSettings, type Settings, SettingsProblem } from './settings';
export { type Running, start } from './start';
