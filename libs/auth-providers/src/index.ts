export * from './auth-providers.module';
export * from './auth-providers.options';
export * from './errors';
export * from './migrations';
export * from './provider';
export * from './token';
export { authProvidersReadModels } from './read-models';
