export { asleep } from './asleep';
export { Courier } from './courier';
export { type DeploymentLife, imageOf } from './deployment-life';
export { hasEnded, Home, isRunning, killed, type Service } from './home';
export { until } from '@fairlead/postgres/testing';
export { type Entry, Ledger } from './ledger';
export { newDeployment } from './tenant-things';
export { Random } from './fuzz/random';
export { Traffic } from './traffic';
