export { type AdminKey, adminKey } from './admin-key';
export { startAlone } from './alone';
export { type Edge, startEdge } from './edge';
export { StartProblem } from './problem';
export { run } from './run';
export type { Service } from './service';
export { type ServiceName, services } from './services';
export { readSettings, type Settings, SettingsProblem } from './settings';
export { DRAIN_MS, type Running } from './start';
