import { setTimeout as delay } from 'node:timers/promises';
import { jars } from '@fairlead/kafka';
import { newDeployment } from '@fairlead/e2e/testing';
import { Canaries } from '../canaries';
import type { InstallationOptions } from '../installation';
import { Needles } from '../needles';
import type { Proxy } from '../proxy';
import { report } from '../report';
import { settings } from '../settings';
import { traces } from '../traces';
import { inTime, FaultTrial } from '../fault-trial';

const { seed, rounds, recoveryMs, sessionMs, slowMs, cutMs, full } = settings;
const kafka = jars() !== undefined;
const IN_ONE: [string, InstallationOptions, number] = ['in one process', { eventStoreDb: true, kafka }, rounds.inOne];
const APART: [string, InstallationOptions, number] = [
  'in processes of their own',
  { replicas: 2, eventStoreDb: true, kafka },
  rounds.apart,
];

const failings: [what: string, ms: number, fail: (proxy: Proxy) => void, index: number][] = [
  [`slow by ${slowMs / 1000} s`, settings.slowForMs, (proxy) => proxy.slow(slowMs), 0],
  ['cut off', cutMs, (proxy) => proxy.cut(), 1],
  ['silent', cutMs, (proxy) => proxy.silence(), 2],
];

describe.each(full ? [IN_ONE, APART] : [IN_ONE])(
  `Services %s (FAIRLEAD_FAULTS_SEED=${seed})`,
  (where, options, times) => {
    let trial: FaultTrial;
    beforeAll(async () => (trial = await FaultTrial.start(options)));
    afterAll(() => trial?.stop());

    /** Waits for it; answers what is wrong then. */
    async function recovery(what: string): Promise<string[]> {
      const { writesMs, effectsMs } = await trial.recovered();
      report(`${where}, ${what}`, { 'writes go on after': `${writesMs} ms`, 'consumers after': `${effectsMs} ms` });
      const late = [
        ...(writesMs < recoveryMs ? [] : [`${what}: writes go on only after ${writesMs} ms`]),
        ...(effectsMs < recoveryMs + sessionMs ? [] : [`${what}: consumers go on only after ${effectsMs} ms`]),
      ];
      const faults = await trial.faults();
      expect({ what, faults }).toEqual({ what, faults: [] });
      return late;
    }

    it(`lose and double nothing when one thing after the other is killed, ${times} times in all`, async () => {
      const { parts } = trial.installation;
      const late: string[] = [];
      for (let round = 1; round <= times; round++) {
        const victim = parts[round % parts.length]!;
        await trial.loaded();
        await delay(trial.random.below(500));
        const killedAt = Date.now();
        await victim.kill();
        const back = `${victim.name} was killed and is back after ${Date.now() - killedAt} ms`;
        late.push(...(await recovery(`round ${round}: ${back}`)));
      }
      expect(late).toEqual([]);
    }, 1_800_000);

    it.each(failings)(
      'answer in time while a server is %s, and go on by themselves then',
      async (what, ms, fail, index) => {
        const { courier, parts } = trial.installation;
        const late: string[] = [];
        const servers = parts.filter(({ proxy }) => proxy);
        for (const { name, proxy } of options.replicas ? servers : [servers[index % servers.length]!]) {
          await trial.loaded();
          const { succeeded, unavailable } = courier.counts;
          courier.slowest = 0;
          fail(proxy!);
          await delay(ms);
          report(`${where}, ${name} is ${what} for ${ms / 1000} s`, {
            succeeded: `${courier.counts.succeeded - succeeded}`,
            'answered 503': `${courier.counts.unavailable - unavailable}`,
            'slowest answer': `${courier.slowest} ms`,
          });
          proxy!.mend();
          late.push(...(await recovery(`${name} was ${what} for ${ms / 1000} s`)));
        }
        expect(late).toEqual([]);
      },
      600_000,
    );

    it('have done everything once in the end, and show what a replay shows', async () => {
      await trial.traffic.stop();
      await trial.settled();
      expect(await trial.faults()).toEqual([]);
      expect(await trial.audit()).toBe(0);
      const { counts } = trial.installation.courier;
      const events = (await trial.installation.log.read()).length;
      report(`${where}, in all`, { ...counts, events, 'lost, doubled or different': 0 });
    });

    it('write none of a hundred secrets down, and would be seen to', async () => {
      const { installation, random } = trial;
      const canaries = new Canaries(installation.courier, random);
      await canaries.release();
      expect(canaries.secrets).toHaveLength(100);
      const planted = canaries.text();
      const body = {
        ...newDeployment(`planted ${planted}`),
        source_revision_config: { image_uri: 'registry.example/a:1' },
      };
      await installation.courier.deliver({ method: 'POST', path: '/v2/deployments', body: JSON.stringify(body) });
      await installation.courier.deliver({ method: 'GET', path: `/v2/deployments/${planted}` });
      await trial.settled();
      // The processes' output reaches this one in its own time.
      await inTime('line of the log about the planted path', () => installation.output.includes(planted));
      const needles = new Needles([...canaries.secrets, planted]);
      const found: Record<string, Set<string>> = {};
      let bytesRead = 0;
      for await (const { place, bytes } of traces(installation)) {
        found[place] = new Set([...(found[place] ?? []), ...needles.in(bytes)]);
        bytesRead += bytes.length;
      }
      const places = [
        'the database',
        'the files of the database',
        'the file of the event store',
        'the log',
        'the output',
      ];
      if (kafka) places.push('the files of Kafka');
      expect(found).toEqual(Object.fromEntries(places.map((place) => [place, new Set([planted])])));
      report(`${where}, ${canaries.secrets.length} secrets`, {
        'searched MB': Math.round(bytesRead / 2 ** 20),
        found: 0,
      });
    });
  },
);
