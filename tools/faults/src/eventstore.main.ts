import { EsdbLog, EventStoreDbDouble } from '@fairlead/eventing/testing';

/**
 * The EventStoreDB double as a process that can be killed: `eventstore.main.ts <port, 0 for a free one> <file of its
 * log>`. Tells its port to the process that forked it, and ends with that.
 */
async function main([port, file]: string[]): Promise<void> {
  const double = await EventStoreDbDouble.start({ port: Number(port), log: new EsdbLog(file) });
  process.send!(double.address.port);
}

process.once('disconnect', () => process.exit());
void main(process.argv.slice(2));
