/** Exit codes: the same for every command. */
export const EXIT = {
  ok: 0,
  /** The service refused it, it could not be done, or a gate or rollout failed. */
  failed: 1,
  usage: 2,
  timeout: 3,
  /** 401 or 403. */
  refused: 4,
  notFound: 5,
  /** Nothing wrong was found, but not everything could be checked. */
  unchecked: 6,
  /** A revision waits for evidence: its gates hold it. */
  held: 7,
  /** `deployments run`: the command did not run, was ended, or its end is not known. Few programs end with this code. */
  notRun: 125,
  interrupted: 130,
} as const;

/** Why a command ended, as a sentence for its user. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Something the command line itself, or a file it names, gets wrong. */
export class Usage extends Failure {
  constructor(message: string) {
    super(message, EXIT.usage);
  }
}

export class Interrupted extends Failure {
  constructor() {
    super('Interrupted.', EXIT.interrupted);
  }
}

/** The service answered with an error; `detail` is what it said: a sentence, or a list of problems. */
export class Refusal extends Failure {
  constructor(
    readonly status: number,
    readonly detail: unknown,
    message: string,
  ) {
    super(message, exitCodeOf(status));
  }
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.refused;
  if (status === 404) return EXIT.notFound;
  // The request does not have the form that the service understands: a mistake in the command line or in its file.
  return status === 422 ? EXIT.usage : EXIT.failed;
}

/** The reason why a file or folder cannot be read or written, as the end of a sentence. */
export function brokenFile(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EISDIR':
      return 'it is a folder';
    case 'ENOTDIR':
      return 'it, or a part of its path, is not a folder';
    case 'EACCES':
    case 'EPERM':
      return 'this user has no permission';
    case 'ENOSPC':
      return 'the disk is full';
  }
  // Messages of the operating system begin with the name of the error and end with the call.
  return message.replace(/^[A-Z]\w*: /, '').replace(/, \w+ '.*$/, '');
}
