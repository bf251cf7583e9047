export { Installation, OPERATOR } from './installation';
export { ServiceProcess } from './service-process';
export { startApart, startByDefault, startTogether, startWhole, type Whole } from './whole';
