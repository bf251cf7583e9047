export { STRANGER, TENANT, TestRollouts } from './service';
