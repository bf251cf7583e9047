export * from './auth-providers.module';
export * from './oauth/auth-providers.options';
export * from './sign-in/authorization.errors';
export * from './oauth/provider.errors';
export * from './oauth/token.errors';
export * from './oauth/provider';
export * from './oauth/token';
export { authProvidersEntities, authProvidersMigrations, authProvidersReadModels } from './domain';
