import { Client } from 'pg';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Query = (config: unknown, values?: unknown, ...rest: unknown[]) => unknown;

/**
 * Records every statement that connections of this process send, until `end`: each text once, with the values of the
 * time when most were given.
 */
export class RecordedStatements {
  private readonly byText = new Map<string, Statement>();
  private readonly send: Query;

  constructor() {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with the connection below
    const send = (this.send = Client.prototype.query as unknown as Query);
    const record = (text: unknown, values: unknown) => {
      if (typeof text !== 'string') return;
      const statement = { text, values: Array.isArray(values) ? [...(values as unknown[])] : [] };
      const known = this.byText.get(text);
      if (!known || absent(statement) < absent(known)) this.byText.set(text, statement);
    };
    Client.prototype.query = function (this: Client, config: unknown, values?: unknown, ...rest: unknown[]) {
      const { text, values: own } = typeof config === 'object' ? (config as Partial<Statement>) : { text: config };
      record(text, own ?? values);
      return send.call(this, config, values, ...rest);
    } as never;
  }

  all(): Statement[] {
    return [...this.byText.values()];
  }

  end(): void {
    Client.prototype.query = this.send as never;
  }
}

function absent({ values }: Statement): number {
  return values.filter((value) => value === null || value === undefined).length;
}
