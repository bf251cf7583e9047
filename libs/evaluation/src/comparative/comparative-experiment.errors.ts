import { Conflict, NotFound } from '@fairlead/schema';

export class ComparativeExperimentNotFound extends NotFound {
  constructor(id: string) {
    super(`Comparative experiment ID ${id} not found.`);
  }
}

export class ComparativeExperimentExists extends Conflict {
  constructor(id: string) {
    super(`Comparative experiment ID ${id} cannot be used again.`);
  }
}
