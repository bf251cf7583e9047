import { Client, type ClientConfig } from 'pg';

/**
 * A client that reports a lost connection to the next query. As an `error` event without a listener it would end the
 * process.
 */
export class CalmClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}
