import { run } from './program';
import { listenForSignals } from './signals';

// Whoever reads our output may stop before the end, as head does.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 1);
  });
}
listenForSignals();
void run(process.argv.slice(2));
