export { type Installation, openInstallation } from './installation';
export { chosen, readModels } from './read-models';
