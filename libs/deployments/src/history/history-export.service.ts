import {
  chain,
  EventStore,
  LogSigner,
  type Place,
  type Recorded,
  sealsOver,
  storedShape,
  withoutSealed,
} from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';

/** Last line of an export: the stream had this hash at this version. */
interface StreamHead {
  readonly stream: string;
  readonly version: number;
  readonly hash: string;
  readonly exported_at: string;
}

/** The text that the signature of an export is over. */
function headText({ stream, version, hash, exported_at }: StreamHead): string {
  return JSON.stringify(['fairlead stream', stream, version, hash, exported_at]);
}

/** Histories that somebody else can verify without this service. */
@Injectable()
export class HistoryExport {
  constructor(
    private readonly signer: LogSigner,
    private readonly store: EventStore,
  ) {}

  /**
   * A stream as JSON lines: its events as they were written, sealed secrets as their SHA-256, then its head, signed
   * with the newest key of the installation, and the seals made since its first event, with the paths that show its
   * events to be among what they sealed. `parts`: all events of the stream, at least one.
   */
  async *lines(parts: AsyncIterable<readonly Recorded[]>): AsyncGenerator<string, void> {
    let [hash, last]: [string, Recorded | undefined] = ['', undefined];
    const places: Place[] = [];
    for await (const events of parts) {
      for (const { id, stream, version, type, data, metadata, time } of events.map(storedShape)) {
        yield `${withoutSealed(JSON.stringify({ id, stream, version, type, data, metadata, time }))}\n`;
      }
      hash = chain(events, hash);
      last = events.at(-1);
      for (const { version, position, time } of events) places.push({ version, position, time });
    }
    const { stream, version } = last!;
    const head = { stream, version, hash, exported_at: new Date().toISOString() };
    const signed = JSON.stringify({ head, ...(await this.signer.sign(headText(head))) });
    yield `${signed.slice(0, -1)},"seals":[`;
    let separator = '';
    for await (const seal of sealsOver(this.store, stream, places)) {
      yield `${separator}${JSON.stringify(seal)}`;
      separator = ',';
    }
    yield ']}\n';
  }
}
