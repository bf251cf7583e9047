import { Injectable } from '@nestjs/common';

/** What does not work in this process although requests can be served. */
@Injectable()
export class Degradation {
  private readonly known = new Map<string, string>();

  /** Says why a part does not work, or, without a reason, that it does. Answers whether that is news. */
  report(part: string, reason?: string): boolean {
    const isNews = this.known.get(part) !== reason;
    if (reason === undefined) this.known.delete(part);
    else this.known.set(part, reason);
    return isNews;
  }

  /** The parts that do not work, and why. */
  reasons(): { what: string; why: string }[] {
    return [...this.known].map(([part, reason]) => ({ what: `${part} does not work`, why: reason }));
  }
}
