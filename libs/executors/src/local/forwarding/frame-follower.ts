/** Close code of RFC 6455's registry for a server that ends a WebSocket because it starts again: clients connect anew. */
export const SERVICE_RESTART = 1012;

/** A ping without a payload, as a server sends it. */
export const PING = Buffer.from([0x89, 0]);

export function closeFrame(code: number): Buffer {
  return Buffer.from([0x88, 2, code >> 8, code & 0xff]);
}

const CLOSE = 8;

/** Follows the frames of a WebSocket (RFC 6455, section 5.2) as they pass, to know where another one may be sent. */
export class FrameFollower {
  /** Bytes of the head of a frame that have come, while it is not complete. */
  private head: number[] = [];
  private left = 0;
  /** True when this side has closed: nothing may be sent after that. */
  hasClosed = false;

  get isBetween(): boolean {
    return this.head.length === 0 && this.left === 0;
  }

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.left > 0) {
        const step = Math.min(this.left, bytes.length - at);
        this.left -= step;
        at += step;
      } else this.takeHead(bytes[at++]!);
    }
  }

  private takeHead(byte: number): void {
    const { head } = this;
    head.push(byte);
    if (head.length < 2) return;
    const short = head[1]! & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const mask = head[1]! & 0x80 ? 4 : 0;
    if (head.length < 2 + lengthBytes + mask) return;
    const length = head.slice(2, 2 + lengthBytes).reduce((sum, one) => sum * 256 + one, 0);
    this.left = lengthBytes === 0 ? short : length;
    if ((head[0]! & 0x0f) === CLOSE) this.hasClosed = true;
    this.head = [];
  }
}
