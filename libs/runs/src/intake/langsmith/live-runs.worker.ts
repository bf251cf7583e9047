import { readBodies } from '@fairlead/blobs';
import { readRunBody } from './read-run-body';

readBodies(readRunBody);
