import { BadRequest, Conflict, NotFound } from '@fairlead/schema';

/** The tenant has no dataset of this id. */
export class DatasetNotFound extends NotFound {
  constructor(id: string) {
    super(`Dataset ID ${id} not found.`);
  }
}

/** The dataset is there but was not made by an upload. */
export class NotExternallyManaged extends BadRequest {
  constructor(id: string) {
    super(
      `Dataset ${id} was not created through the upload of an experiment, so experiments cannot be uploaded to it.`,
    );
  }
}

/** `dataset_id` and `dataset_name` mean different datasets. */
export class DatasetMismatch extends BadRequest {
  /** `because` says what one of the two stands for. */
  constructor(because: string) {
    super(`dataset_id and dataset_name refer to different datasets: ${because}.`);
  }
}

/** The id cannot be used. Says nothing of why, because that is another tenant's matter. */
export class DatasetIdTaken extends Conflict {
  constructor() {
    super('This dataset_id cannot be used.');
  }
}

/** The name or the id is in use by another dataset of the tenant. */
export class DatasetExists extends Conflict {
  constructor(
    what: string,
    readonly id: string,
  ) {
    super(`Dataset ${what} already exists. Its id is ${id}.`);
  }
}

/** The dataset is filled by uploads of experiments alone. */
export class OnlyUploads extends BadRequest {
  constructor(id: string) {
    super(`Dataset ${id} is filled by uploads of experiments: its examples cannot be changed in another way.`);
  }
}

/** The experiment was not run on this dataset. */
export class OtherDataset extends BadRequest {
  constructor(experimentId: string, id: string) {
    super(`Session ${experimentId} is no experiment on dataset ${id}.`);
  }
}

/** No version of the dataset is of exactly this time. */
export class NoSuchVersion extends NotFound {
  constructor(asOf: string) {
    super(`Dataset version '${asOf}' not found.`);
  }
}
