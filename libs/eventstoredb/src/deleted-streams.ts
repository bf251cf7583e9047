import { idOf } from '@fairlead/eventing';

/**
 * The streams of Fairlead that were deleted or cut off in the server, by the markers in its log. They are read once;
 * afterwards, the subscription of the process tells new ones.
 */
export class EventStoreDbDeletedStreams {
  private readonly marks = new Map<string, boolean>();
  readonly byId = new Map<string, Set<string>>();
  private reading: Promise<void> | undefined;
  private isRead = false;

  constructor(private readonly read: () => Promise<readonly string[]>) {}

  /** Reads the markers that are in the log, unless that is done. It never rejects: the next call reads again. */
  load(): void {
    if (this.isRead) return;
    this.reading ??= this.read()
      .then((streams) => {
        for (const stream of streams) if (!this.marks.has(stream)) this.note({ stream, cut: true });
        this.isRead = true;
      })
      .catch(() => undefined)
      .finally(() => (this.reading = undefined));
  }

  /** Notes what a marker says, which is newer than those that were read. */
  note({ stream, cut }: { readonly stream: string; readonly cut: boolean }): void {
    this.marks.set(stream, cut);
    const id = idOf(stream);
    const same = this.byId.get(id) ?? new Set();
    if (cut) same.add(stream);
    else same.delete(stream);
    if (same.size > 0) this.byId.set(id, same);
    else this.byId.delete(id);
  }

  /** Returns whether a stream is deleted or cut off; undefined while the markers have not been read. */
  has(stream: string): boolean | undefined {
    return this.marks.get(stream) ?? (this.isRead ? false : undefined);
  }
}
