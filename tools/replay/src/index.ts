export { Bar } from './bar';
export { type Installation, openInstallation } from './installation';
export { exchangeForOlderLog, requireStopped, type OlderLogReport } from './from-older-log';
export { interruption } from './interruption';
export { chosen, readModels } from './read-models';
