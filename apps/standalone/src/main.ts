import 'reflect-metadata';
import { run } from '@fairlead/service';
import { banner } from './banner';
import { startStandalone } from './index';

void run(startStandalone, ({ url, key }) => banner(url, key));
