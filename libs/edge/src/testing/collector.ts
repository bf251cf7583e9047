import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The members of a span that tests look at, as OTLP's JSON spells them. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly links?: { readonly traceId: string }[];
}

/** An OTLP collector that keeps the spans it is sent. */
export class Collector {
  readonly spans: SentSpan[] = [];
  /** Names of the services that sent them. */
  readonly services = new Set<unknown>();
  private server?: Server;
  private arrived: () => void = () => undefined;

  /** Answers its address. */
  async start(): Promise<string> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method === 'POST' && request.url === '/v1/traces') this.take(Buffer.concat(chunks).toString());
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    await new Promise<void>((resolve) => this.server!.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves with the first span that is wanted. */
  async span(wanted: (span: SentSpan) => boolean): Promise<SentSpan> {
    for (;;) {
      const found = this.spans.find(wanted);
      if (found) return found;
      await new Promise<void>((resolve) => (this.arrived = resolve));
    }
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private take(text: string): void {
    type Sent = { resource: { attributes: SentSpan['attributes'] }; scopeSpans: { spans: SentSpan[] }[] };
    for (const { resource, scopeSpans } of (JSON.parse(text) as { resourceSpans: Sent[] }).resourceSpans) {
      this.services.add(resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue);
      for (const { spans } of scopeSpans) this.spans.push(...spans);
    }
    this.arrived();
  }
}
