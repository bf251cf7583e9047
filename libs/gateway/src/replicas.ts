/**
 * Time for which a process that failed is tried only after the others (ms): the first pause and the longest. Each
 * failure doubles it.
 */
const REST_MS = { first: 500, most: 4000 };

interface Rest {
  readonly until: number;
  readonly ms: number;
}

/** The processes that run one service, by their addresses. */
export class Replicas {
  private turn = 0;
  private readonly resting = new Map<string, Rest>();

  constructor(
    readonly urls: readonly string[],
    private readonly now = Date.now,
  ) {}

  /** Returns the addresses for a request, the best first: in turn, and those that failed recently last. */
  order(): string[] {
    const first = this.turn++ % this.urls.length;
    const inTurn = [...this.urls.slice(first), ...this.urls.slice(0, first)];
    if (this.resting.size === 0) return inTurn;
    const rests = (url: string) => (this.resting.get(url)?.until ?? 0) > this.now();
    return [...inTurn.filter((url) => !rests(url)), ...inTurn.filter(rests)];
  }

  failed(url: string): void {
    const before = this.resting.get(url);
    const ms = before ? Math.min(before.ms * 2, REST_MS.most) : REST_MS.first;
    this.resting.set(url, { until: this.now() + ms, ms });
  }

  answered(url: string): void {
    if (this.resting.size > 0) this.resting.delete(url);
  }
}
