export { asleep } from './asleep';
export { Courier, type Target } from './courier';
export { type DeploymentLife, imageOf } from './deployment-life';
export { hasEnded, Home, isRunning, killed, type Launched, type Service, until } from './home';
export { type Entry, Ledger } from './ledger';
export { newDeployment } from './tenant-things';
export { Random } from './random';
export { Traffic } from './traffic';
