import type { Proxy } from './proxy';

/** A server that an installation cannot do without, or one of its own processes. */
export interface Part {
  readonly name: string;
  /** Proxy through which it is reached; none where it is a process of the installation. */
  readonly proxy?: Proxy;
  /** Kills it with SIGKILL; resolves when it is running again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}
