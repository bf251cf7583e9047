import { Agent, request as send } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 20;
/** On a slow machine, fewer requests are sent instead of more at a time. */
const MOST_AT_A_TIME = 50;

/** Sends 50 requests a second until it is stopped, every other one with a body. */
export class Traffic {
  /** Answers to the requests, in the order in which the requests began. */
  readonly answers: Promise<string>[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly running: Promise<void>;
  private open = 0;
  private isOver = false;

  constructor(private readonly address: string) {
    this.running = this.run();
  }

  /** Sends one more, and answers all answers. */
  async stop(): Promise<string[]> {
    this.isOver = true;
    await this.running;
    this.answers.push(this.send(this.answers.length));
    const answers = await Promise.all(this.answers);
    this.agent.destroy();
    return answers;
  }

  private async run(): Promise<void> {
    for (; !this.isOver; await delay(INTERVAL_MS)) {
      if (this.open < MOST_AT_A_TIME) this.answers.push(this.send(this.answers.length));
    }
  }

  private async send(number: number): Promise<string> {
    this.open++;
    const method = number % 2 === 0 ? 'GET' : 'POST';
    const { agent } = this;
    const answer = await new Promise<string>((resolve) => {
      const request = send(this.address, { method, agent, headers: { 'x-api-key': 'key' } }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (more: string) => (text += more));
        response.once('end', () => resolve(`${response.statusCode} ${text}`));
        response.once('error', (error) => resolve(error.message));
      });
      request.once('error', (error) => resolve(error.message));
      request.end(method === 'POST' ? 'a question' : undefined);
    });
    this.open--;
    return answer;
  }
}
