export * from './auth-providers.module';
export * from './auth-providers.options';
export * from './sign-in/authorization.errors';
export * from './provider/provider.errors';
export * from './token/token.errors';
export * from './provider/provider';
export * from './token/token';
export { authProvidersEntities, authProvidersMigrations, authProvidersReadModels } from './domain';
