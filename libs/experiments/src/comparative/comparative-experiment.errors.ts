import { Conflict, NotFound } from '@fairlead/schema';

/** The tenant has no comparative experiment of this id. */
export class ComparativeExperimentNotFound extends NotFound {
  constructor(id: string) {
    super(`Comparative experiment ID ${id} not found.`);
  }
}

/** The id has been used before. */
export class ComparativeExperimentExists extends Conflict {
  constructor(id: string) {
    super(`Comparative experiment ID ${id} cannot be used again.`);
  }
}
