export { type AdminKey, adminKey } from './admin-key';
export { startAlone } from './alone';
export { apiRoutes } from './api-routes';
export { banner, CONSOLE_MISSING } from './banner';
export { consoleState } from './console/console-files';
export { type Edge, startEdge } from './edge';
export { eventStoreDb, type OpenEventStore, openEventStore, placeOf } from './event-store/open-event-store';
export { StartProblem } from './problem';
export { run } from './run';
export type { Service } from './service';
export {
  readSettings,
  SERVICE_NAMES,
  type ServiceName,
  type Settings,
  SettingsProblem,
  urlVariable,
} from './settings/settings';
export { DRAIN_MS, makeDataDirectory, type Running, shownUrl } from './start';
