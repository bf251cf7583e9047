import 'reflect-metadata';
import { run } from '@fairlead/service';
import { startGateway } from './index';

void run(startGateway, ({ url }) => `The gateway listens at ${url}`);
