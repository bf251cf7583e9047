import { type LoadOptions, OpenLoad } from './open-load';

/** A load in a process of its own: takes its options from the process that forked it, and tells what came of it. */
process.once('message', (options: LoadOptions) => {
  void new OpenLoad(options).run().then((figures) => process.send!(figures, () => process.exit()));
});
process.once('disconnect', () => process.exit());
