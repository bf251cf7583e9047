export { asleep } from './asleep';
export { Courier } from './courier';
export { type DeploymentLife, imageOf } from './deployment-life';
export { hasEnded, Home, isRunning, killed, type Service, until } from './home';
export { type Entry, Ledger } from './ledger';
export { newDeployment } from './tenant-things';
export { Random } from './random';
export { Traffic } from './traffic';
