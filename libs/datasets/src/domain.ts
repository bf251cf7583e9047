import type { EntityClass } from '@fairlead/postgres';
import * as datasets from './datasets/dataset.entity';
import * as examples from './examples/example.entity';

export const datasetsEntities = [datasets, examples].flatMap((file) => Object.values<EntityClass>(file));
