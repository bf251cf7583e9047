export { ServiceProcess } from './service-process';
export { startApart, startTogether, startWhole, type Whole } from './whole';
