export * from './auth-providers.module';
export * from './auth-providers.options';
export * from './authorization.errors';
export * from './provider.errors';
export * from './token.errors';
export * from './migrations';
export * from './provider';
export * from './token';
export { authProvidersReadModels } from './read-models';
