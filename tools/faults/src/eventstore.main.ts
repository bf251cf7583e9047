import { EsdbLog, EventStoreDbDouble } from '@fairlead/eventing/testing';

/**
 * The EventStoreDB double as a process that can be killed: `eventstore.main.ts <port, 0 for a free one> <file of its
 * log>`. Tells its port to the process that forked it, answers each message of it with what was asked for each stream
 * and how many events it has, and ends with that process.
 */
async function main([port, file]: string[]): Promise<void> {
  const double = await EventStoreDbDouble.start({ port: Number(port), log: new EsdbLog(file) });
  process.on('message', () => {
    const counted = [...double.streams].map(([name, calls]) => [
      name,
      { ...calls, events: double.log.stream(name).length },
    ]);
    process.send!(Object.fromEntries(counted));
  });
  process.send!(double.address.port);
}

process.once('disconnect', () => process.exit());
void main(process.argv.slice(2));
