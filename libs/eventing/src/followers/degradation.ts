import { Injectable } from '@nestjs/common';

/** Collects what does not work in this process although requests are served. */
@Injectable()
export class Degradation {
  private readonly known = new Map<string, string>();

  /** Records why a part does not work or, without a reason, that it works. Returns whether this is a change. */
  report(part: string, reason?: string): boolean {
    const isNews = this.known.get(part) !== reason;
    if (reason === undefined) this.known.delete(part);
    else this.known.set(part, reason);
    return isNews;
  }

  reasons(): { what: string; why: string }[] {
    return [...this.known].map(([part, reason]) => ({ what: `${part} does not work`, why: reason }));
  }
}
