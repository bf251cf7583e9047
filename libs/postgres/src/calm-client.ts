import { Client, type ClientConfig } from 'pg';

/** Reports a lost connection to the query that meets it. As an event that nobody hears it would end the process. */
export class CalmClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}
