import { Conflict } from '@fairlead/schema';

/** The id has been used before. */
export class ComparativeExperimentExists extends Conflict {
  constructor(id: string) {
    super(`Comparative experiment ID ${id} cannot be used again.`);
  }
}
