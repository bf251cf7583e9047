export { CodeHostServer } from './code-host.server';
