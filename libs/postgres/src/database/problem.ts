/** A database that cannot be used. The message is one line: what is wrong and what to do about it. */
export class DatabaseProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' ').trim(), options);
    this.name = 'DatabaseProblem';
  }
}
