import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeKafka } from '@fairlead/kafka/testing';
import { Kafka, logLevel } from 'kafkajs';
import { type RunningKafka, startKafka } from './kafka';
import { Log } from './log';

describeKafka('The Kafka of a cluster', () => {
  let directory: string;
  let lines: string[];
  let kafka: RunningKafka | undefined;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'fairlead-cluster-kafka-'));
    lines = [];
    kafka = await startKafka(directory, new Log((line) => lines.push(line), false, 5));
  });
  afterAll(async () => {
    await kafka?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Id of the process that works on the directory and whose command line begins with `program`. */
  function pidOf(program: RegExp): number | undefined {
    const processes = execFileSync('ps', ['-e', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    const found = processes.flatMap((line) => {
      const [, pid, command = ''] = /^ *(\d+) (.*)/.exec(line) ?? [];
      return program.test(command) && command.includes(directory) ? Number(pid) : [];
    });
    return found[0];
  }

  async function answers(): Promise<boolean> {
    const brokers = kafka!.addresses.split(',');
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
    try {
      await admin.connect();
      await admin.describeCluster();
      return true;
    } catch {
      return false;
    } finally {
      await admin.disconnect();
    }
  }

  it.each([
    ['its JVM', /^java -Xmx/, 'kafka | broker 1: It ended and is started again.'],
    ['the process that watches it', /^\S*node .*kafka\.mjs/, 'kafka | It ended (SIGKILL) and is started again.'],
  ])('is started again at the same address when %s is killed', async (_, program, told) => {
    const { addresses } = kafka!;
    const killed = pidOf(program)!;
    process.kill(killed, 'SIGKILL');
    while (!lines.includes(told)) await delay(20);
    const isBack = () => ![undefined, killed].includes(pidOf(program));
    while (!isBack() || !(await answers())) await delay(100);
    expect(kafka!.addresses).toBe(addresses);
    expect(lines.filter((line) => line === told)).toEqual([told]);
  });
});
