/** Why the log cannot be moved: one line for the operator. Nothing has been decided yet: the service goes on as before. */
export class MoveProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MoveProblem';
  }
}
