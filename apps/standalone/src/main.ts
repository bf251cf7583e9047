import 'reflect-metadata';
import { banner, run } from '@fairlead/service';
import { startStandalone } from './index';

void run(startStandalone, banner);
