/** The service's public HTTP API, as far as the demo uses it: of the command line, or of a browser. */
export interface Service {
  get<T>(path: string, query?: Readonly<Record<string, string | number | boolean>>): Promise<T>;
  /** Sends a request that may be repeated without doing more. */
  send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, sent?: Sent): Promise<T>;
  /** Uploads a gzip tarball to an address of the service. */
  upload(address: string, archive: Uint8Array<ArrayBuffer>): Promise<void>;
  pause(ms: number): Promise<void>;
  /** Told what is done, and how much of all. */
  onStep(step: Step): void;
}

interface Sent {
  readonly body?: object;
  /** A body of the type `multipart/form-data`. */
  readonly parts?: Parts;
  /** Why, for the history. */
  readonly reason?: string;
}

export interface Parts {
  readonly type: string;
  readonly text: string;
}

export interface Step {
  readonly doing: string;
  /** Steps of this part that are done, of all of its steps. */
  readonly done: number;
  readonly of: number;
}

/** Why the demo was not made, in a sentence. */
export class NotMade extends Error {}
