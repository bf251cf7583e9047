import type { EntityClass } from '@fairlead/postgres';
import * as counts from './counts/trace-count.entity';
import * as feedback from './feedback/feedback.entity';
import * as runs from './run/run.entity';
import * as sessions from './session/session.entity';

export const runsEntities = [counts, feedback, runs, sessions].flatMap((file) => Object.values<EntityClass>(file));
