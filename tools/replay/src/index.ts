export { Bar } from './bar';
export { type Installation, openInstallation } from './installation';
export { interruption } from './interruption';
export { chosen, readModels } from './read-models';
