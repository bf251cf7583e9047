import { EsdbLog, EventStoreDbDouble } from '@fairlead/eventstoredb/testing';

/**
 * The EventStoreDB double as a process that can be killed: `eventstore.main.ts <port, 0 for a free one> <file of its
 * log>`. Tells its port to the process that forked it, answers each message of it with the calls of each kind and with
 * what was asked for each stream and how many events it has, and ends with that process.
 */
async function main([port, file]: string[]): Promise<void> {
  const double = await EventStoreDbDouble.start({ port: Number(port), log: new EsdbLog(file) });
  process.on('message', () => {
    const streams = [...double.streams].map(([name, asked]) => {
      return [name, { ...asked, events: double.log.stream(name).length }] as const;
    });
    process.send!({ calls: double.calls, streams: Object.fromEntries(streams) });
  });
  process.send!(double.address.port);
}

process.once('disconnect', () => process.exit());
void main(process.argv.slice(2));
