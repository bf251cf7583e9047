import 'reflect-metadata';
import { CONSOLE_MISSING, consoleState, run } from '@fairlead/service';
import { startGateway } from './index';

void run(startGateway, ({ url }, settings) => {
  const missing = consoleState(settings) === 'missing' ? `\n${CONSOLE_MISSING}` : '';
  return `The gateway listens at ${url}${missing}`;
});
