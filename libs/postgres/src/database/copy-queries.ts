import type { ClientBase, Connection, Submittable } from 'pg';

interface CopyQuery {
  readonly statement: string;
  readonly bytes: Buffer;
}

const COPY_DATA = 0x64;
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]);

/**
 * Runs COPY statements one after the other in a single round trip: their bytes follow them at once, and a server that
 * refuses a statement passes over what was meant for it. The bytes must stay as they are until it resolves.
 */
export function copyAtOnce(client: ClientBase, queries: readonly CopyQuery[]): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopiesAtOnce(queries, resolve, reject));
  });
}

/** A query object of the client, which calls `handle…` for each message of the answer. */
class CopiesAtOnce implements Submittable {
  constructor(
    private readonly queries: readonly CopyQuery[],
    readonly handleReadyForQuery: () => void,
    readonly handleError: (error: Error) => void,
  ) {}

  submit(connection: Connection): void {
    const { stream } = connection;
    stream.cork();
    connection.query(this.queries.map(({ statement }) => statement).join('; '));
    for (const { bytes } of this.queries) {
      const head = Buffer.allocUnsafe(5);
      head.writeUInt8(COPY_DATA);
      head.writeUInt32BE(4 + bytes.length, 1);
      stream.write(head);
      stream.write(bytes);
      stream.write(COPY_DONE);
    }
    stream.uncork();
  }

  handleCopyInResponse(): void {}
  handleCommandComplete(): void {}
}
