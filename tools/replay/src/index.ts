export { Bar } from './bar';
export { type Installation, openInstallation } from './installation';
export { exchangeForOlderLog, requireStopped } from './from-older-log';
export { interruption } from './interruption';
export { chosen, readModels } from './read-models';
